import { metrics, type Attributes, type Counter, type Histogram } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** Collects only when asked: between two scrapes a metric costs the addition of a number. */
class ScrapeReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** From a millisecond, as trivial cells take, to the hour of the wall limit. */
const SECONDS_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600,
];

const reader = new ScrapeReader();
const provider = new MeterProvider({ readers: [reader] });
metrics.setGlobalMeterProvider(provider);
const meter = provider.getMeter('cellar');
const serializer = new PrometheusSerializer('', false, undefined, true, true);

/** All metrics of the process in the Prometheus text format, for `/metrics`. */
export async function renderMetrics(): Promise<string> {
  const { resourceMetrics } = await reader.collect();
  return serializer.serialize(resourceMetrics);
}

/** The content type of `renderMetrics`. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A counter, exposed as `cellar_{name}_total`. Attributes must come from small fixed sets: never ids or texts. */
export function counter(name: string, description: string): Counter {
  return meter.createCounter(`cellar_${name}`, { description });
}

/** A histogram of seconds, exposed as `cellar_{name}_seconds`. */
export function secondsHistogram(name: string, description: string): Histogram {
  const advice = { explicitBucketBoundaries: SECONDS_BUCKETS };
  return meter.createHistogram(`cellar_${name}_seconds`, { description, unit: 's', advice });
}

/** One value of a gauge, with attributes from small fixed sets. */
export interface GaugeReading {
  value: number;
  attributes?: Attributes;
}

/**
 * Exposes `cellar_{name}`, read anew at each scrape, for the life of the process. Every reading gives the same set of
 * attributes, with 0 where there is nothing: the SDK goes on exposing what is left out. A reading that fails leaves
 * the gauge as it was.
 */
export function registerGauge(name: string, description: string, read: () => readonly GaugeReading[]): void {
  const gauge = meter.createObservableGauge(`cellar_${name}`, { description });
  gauge.addCallback((result) => {
    for (const { value, attributes } of read()) result.observe(value, attributes);
  });
}
