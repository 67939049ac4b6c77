import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, eventually } from '../../libs/testing/src/index.js';

interface Span {
  service: string;
  name: string;
  traceId: string;
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { name: string; traceId: string }[] }[];
  }[];
}

describe('tracing', () => {
  const spans: Span[] = [];
  // What an OpenTelemetry collector receives.
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      for (const { resource, scopeSpans } of (JSON.parse(Buffer.concat(chunks).toString()) as Export).resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
        for (const { name, traceId } of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ service, name, traceId });
      }
      response.end('{}');
    });
  });
  let cluster: Cluster;
  beforeAll(async () => {
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    cluster = await Cluster.start({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    collector.close();
  });

  it('makes one exec one trace over API, queue and worker, which continues the trace of the caller', async () => {
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const reply = await tenant.send(
      'POST',
      `${conversation.path}/exec`,
      { source: 'text(1)' },
      {
        headers: {
          authorization: `Bearer ${tenant.key}`,
          'content-type': 'application/json',
          traceparent: `00-${traceId}-b7ad6b7169203331-01`,
        },
      },
    );
    expect(reply.status).toBe(200);
    const ours = () => spans.filter((span) => span.traceId === traceId);
    await eventually(() => ours().some(({ name }) => name === 'cell.end'));
    await eventually(() => ours().some(({ service }) => service === 'cellar-api'));
    const names = ours().map(({ service, name }) => `${service} ${name}`);
    expect(names).toEqual(
      expect.arrayContaining(['cellar-worker cell.claim', 'cellar-worker cell.run', 'cellar-worker cell.end']),
    );
    // The queue's own spans: the job as it was added and as it was taken.
    expect(names.some((name) => name.startsWith('cellar-api') && name.includes('cells'))).toBe(true);
    expect(names.some((name) => name.startsWith('cellar-worker') && name.includes('process'))).toBe(true);
  });
});
