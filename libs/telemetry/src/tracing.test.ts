import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { context, propagation, trace } from '@opentelemetry/api';
import { afterEach, expect, test, vi } from 'vitest';
import { createLogger } from './logger.js';
import { renderMetrics } from './metrics.js';
import { contextFromHeaders, withSpan } from './spans.js';
import { startTelemetry, stopTelemetry } from './tracing.js';

interface SentSpan {
  name: string;
  traceId: string;
  parentSpanId?: string;
  kind: number;
  status: { code?: number };
}

afterEach(() => vi.unstubAllEnvs());

test('off: the SDK is not even loaded, spans do nothing and failures pass', async () => {
  await startTelemetry('cellar-test', { enabled: false });
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  expect(loaded.filter((file) => file.includes('@opentelemetry/sdk-node/'))).toEqual([]);
  expect(await withSpan('x', {}, async (span) => span.isRecording())).toBe(false);
  await expect(withSpan('x', {}, () => Promise.reject(new Error('passed on')))).rejects.toThrow('passed on');
  await stopTelemetry();
});

test('on: spans of one trace reach the collector, and log lines name the trace', async () => {
  const spans: SentSpan[] = [];
  const services: string[] = [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: {
          resource: { attributes: { key: string; value: { stringValue?: string } }[] };
          scopeSpans: { spans: SentSpan[] }[];
        }[];
      };
      for (const { resource, scopeSpans } of resourceSpans) {
        services.push(resource.attributes.find((entry) => entry.key === 'service.name')?.value.stringValue ?? '');
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  await startTelemetry('cellar-test', { enabled: true });

  const lines: { traceId?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as { traceId?: string }) };
  const logger = createLogger({ name: 'test', level: 'info', destination });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = contextFromHeaders({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  const carried: Record<string, string> = {};
  const failing = withSpan('request', { kind: 'SERVER', parent }, async () => {
    await withSpan('inner', { attributes: { 'cellar.dialect': 'exec' } }, async () => logger.info('inside'));
    propagation.inject(context.active(), carried);
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect(trace.getActiveSpan()).toBeUndefined();
  expect(await renderMetrics()).toMatch(/./);
  await stopTelemetry();
  collector.close();

  expect(spans.map((span) => span.name).sort()).toEqual(['inner', 'request']);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(spans.find((span) => span.name === 'request')).toMatchObject({ kind: 2, status: { code: 2 } });
  expect(services).toEqual(['cellar-test']);
  expect(lines[0]?.traceId).toBe(traceId);
  expect(carried.traceparent).toContain(traceId);
});
