import type { CellResult, Problem } from '#libs/contracts';
import { Database } from '#libs/persistence';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { CellarClient, Cluster, eventually, testDatabase, testRedis } from '../../libs/testing/src/index.js';
import { startTestApi } from './api-fixture.js';
import { TcpGate } from './tcp-gate.js';

const get = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
/** Observed for longer than a process may take to end. */
const LONG = { source: '// @exec: {"yield_time_ms": 600000}\ntext(1)' };
const ready = async (url: string) => (await fetch(`${url}/health/ready`)).status;

describe('one API process', () => {
  it('says that it is live and ready, and tells its metrics', async () => {
    await using api = await startTestApi();
    expect(await get(`${api.url}/health/live`)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(await get(`${api.url}/health/ready`)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    await (await api.tenant()).send('GET', '/v1/conversations/nobody');
    const metrics = await get(`${api.url}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(metrics.text).toContain('route="/v1/conversations/:c"');
    expect(metrics.text).not.toContain('nobody');
  });

  it('carries a correlation id through the answer and every log line', async () => {
    await using api = await startTestApi();
    const client = await api.tenant();
    const send = (id: string) =>
      client.send('PUT', '/v1/conversations/c', undefined, {
        headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', 'x-request-id': id },
        body: '{"kind":5}',
      });
    expect((await send('request-7')).headers.get('x-request-id')).toBe('request-7');
    const lines = api.log.map((line) => JSON.parse(line) as { msg: string; correlationId?: string });
    const ours = lines.filter(({ correlationId }) => correlationId === 'request-7');
    expect(ours.map(({ msg }) => msg)).toEqual(['request failed', 'request ended']);
    for (const odd of ['a b', 'x'.repeat(129), '"'])
      expect((await send(odd)).headers.get('x-request-id')).toMatch(/^\w{16}$/);
  });

  it('keeps the correlation of a request whose body comes late', async () => {
    await using api = await startTestApi();
    const { key } = await api.tenant();
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = ['PUT /v1/conversations/c HTTP/1.1', 'host: x', `authorization: Bearer ${key}`, 'x-request-id: late'];
    socket.write(
      [...head, 'content-type: application/json', 'content-length: 10', 'connection: close', '', '{"kin'].join('\r\n'),
    );
    await eventually(async () => (await get(`${api.url}/health/live`)).status === 200);
    socket.write('d":5}');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
    const failed = api.log.map((line) => JSON.parse(line) as object).filter((line) => 'code' in line);
    expect(failed).toMatchObject([{ msg: 'request failed', correlationId: 'late' }]);
  });

  it('serves its description, and a page to read it, without loading anything from elsewhere', async () => {
    await using api = await startTestApi();
    const document = JSON.parse((await get(`${api.url}/openapi.json`)).text) as { openapi: string; paths: object };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toContain('/v1/conversations/{c}/exec');
    const page = await get(`${api.url}/docs`);
    expect(page.headers.get('content-type')).toContain('text/html');
    const loaded = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(loaded.length).toBe(3);
    for (const link of loaded) expect(await get(api.url + link)).toMatchObject({ status: 200 });
  });

  it('keeps the routes of the operator to their own port, when there is one', async () => {
    await using api = await startTestApi({ CELLAR_OPS_PORT: '0' });
    const client = await api.tenant();
    const opsUrl = api.api.opsUrl ?? '';
    expect(opsUrl).not.toBe(api.url);
    expect([await status(`${opsUrl}/metrics`), await status(`${api.url}/metrics`)]).toEqual([200, 404]);
    expect([await ready(opsUrl), await ready(api.url)]).toEqual([200, 200]);
    const elsewhere = await new CellarClient(api.url, api.admin.key).problem('POST', '/admin/tenants', { name: 'x' });
    expect(elsewhere.code).toBe('not_found');
    expect((await client.send('GET', '/v1/toolsets')).status).toBe(200);
    expect((await client.at({ url: opsUrl }).problem('GET', '/v1/toolsets')).code).toBe('not_found');
    expect(await status(`${opsUrl}/docs`)).toBe(404);
  });

  it('answers what is observed before it ends, and takes no more', async () => {
    await using own = await testDatabase();
    await using database = new Database({ url: own.url, poolSize: 1, applicationName: 'test' });
    const api = await startTestApi({ DATABASE_URL: own.url });
    const client = await api.tenant();
    await client.ok('PUT', '/v1/conversations/c', { kind: 'direct' });
    const observing = client.send<CellResult>('POST', '/v1/conversations/c/exec', LONG);
    await eventually(
      async () => (await client.ok<{ cells: unknown[] }>('GET', '/v1/conversations/c/cells')).cells.length === 1,
    );
    await api[Symbol.asyncDispose]();
    expect(await observing).toMatchObject({ status: 200, body: { state: 'running' } });
    expect((await observing).headers.get('connection')).toBe('close');
    await expect(fetch(`${api.url}/health/live`)).rejects.toThrow();
    const places = { name: 'places', text: 'SELECT state, observer, observed FROM cells' };
    expect(await database.query(places, [])).toEqual([{ state: 'queued', observer: null, observed: true }]);
    expect(api.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 40)).toEqual([]);
  });

  it('starts while Redis is away, says what is missing, and recovers without a restart', async () => {
    const redis = await testRedis();
    await using gate = new TcpGate(redis.url);
    await gate.open();
    await gate.shut();
    await using api = await startTestApi({ REDIS_URL: gate.url });
    const client = await api.tenant();
    await client.ok('PUT', '/v1/conversations/c', { kind: 'direct' });
    const away = await fetch(`${api.url}/health/ready`);
    expect(away.status).toBe(503);
    expect(((await away.json()) as Problem).detail).toMatch(/^Redis cannot be reached/);
    const refused = await client.send<Problem>('POST', '/v1/conversations/c/exec', { source: 'text(1)' });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await gate.open();
    await eventually(async () => (await ready(api.url)) === 200);
    await gate.shut();
    await eventually(async () => (await ready(api.url)) === 503);
    await gate.open();
    await eventually(async () => (await ready(api.url)) === 200);
  });

  it('ends in order while Redis is away', async () => {
    const redis = await testRedis();
    await using gate = new TcpGate(redis.url);
    await gate.open();
    const api = await startTestApi({ REDIS_URL: gate.url });
    await gate.shut();
    const began = performance.now();
    await api[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('says 503 while Postgres is away, and recovers without a restart', async () => {
    await using own = await testDatabase();
    await using gate = new TcpGate(own.url);
    await gate.open();
    await using api = await startTestApi({ DATABASE_URL: gate.url });
    const client = await api.tenant();
    await client.ok('PUT', '/v1/conversations/c', { kind: 'direct' });
    await gate.shut();
    const refused = await client.send<Problem>('PUT', '/v1/conversations/c', { kind: 'direct' });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await client.send('GET', '/v1/toolsets')).status).toBe(503);
    const away = await fetch(`${api.url}/health/ready`);
    expect(((await away.json()) as Problem).detail).toMatch(/^Postgres cannot be reached/);
    expect(await status(`${api.url}/health/live`)).toBe(200);
    await gate.open();
    await eventually(async () => (await ready(api.url)) === 200);
    expect((await client.send('PUT', '/v1/conversations/c', { kind: 'direct' })).status).toBe(200);
  });
});

describe('an API process of its own', () => {
  it('answers what it observes at SIGTERM and ends with code 0', async () => {
    await using cluster = await Cluster.start({ apis: 1, workers: 0 });
    const conversation = await (await cluster.tenant()).conversation();
    const observing = conversation.exec(LONG.source);
    await eventually(async () => {
      const { cells } = await conversation.client.ok<{ cells: unknown[] }>('GET', `${conversation.path}/cells`);
      return cells.length === 1;
    });
    const [api] = cluster.apis;
    api?.signal('SIGTERM');
    expect(await observing).toMatchObject({ state: 'running' });
    expect(await api?.exited).toBe(0);
    expect(cluster.logs()).not.toContain('"level":50');
  });

  it('ends with code 0 while Redis is away', async () => {
    await using gate = new TcpGate((await testRedis()).url);
    await gate.open();
    await using cluster = await Cluster.start({ apis: 1, workers: 0, env: { REDIS_URL: gate.url } });
    await gate.shut();
    const [api] = cluster.apis;
    api?.signal('SIGTERM');
    expect(await api?.exited).toBe(0);
  });

  it('ends with code 0 while Postgres is away', async () => {
    await using own = await testDatabase();
    await using gate = new TcpGate(own.url);
    await gate.open();
    await using cluster = await Cluster.start({ apis: 1, workers: 0, env: { DATABASE_URL: gate.url } });
    await gate.shut();
    const [api] = cluster.apis;
    api?.signal('SIGTERM');
    expect(await api?.exited).toBe(0);
  });
});

async function status(url: string): Promise<number> {
  return (await fetch(url)).status;
}
