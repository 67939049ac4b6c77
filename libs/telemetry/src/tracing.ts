import { isMainThread } from 'node:worker_threads';

/** What runs while telemetry is on. */
interface RunningTelemetry {
  shutdown(): Promise<void>;
}

let running: RunningTelemetry | undefined;

/**
 * Starts OpenTelemetry for the process; where spans go is configured by the standard `OTEL_*` variables, which the
 * SDK reads itself. To be called before anything else is loaded (`--import`). When it is not enabled the SDK is not
 * even loaded. A thread inherits `--import` from its process: there it does nothing.
 */
export async function startTelemetry(serviceName: string, { enabled }: { enabled: boolean }): Promise<void> {
  if (!enabled || running !== undefined || !isMainThread) return;
  const { NodeSDK, resources } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    // A resource rather than the SDK's serviceName, which would win over OTEL_SERVICE_NAME.
    resource: resources.defaultResource().merge(resources.resourceFromAttributes({ 'service.name': serviceName })),
    // Metrics are scraped and logs are written to standard output; the SDK is here for spans.
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  running = sdk;
}

/** Sends what is left and stops. Never throws: a collector that is away must not keep a process from ending. */
export async function stopTelemetry(): Promise<void> {
  const stopping = running;
  running = undefined;
  await stopping?.shutdown().catch(() => undefined);
}
