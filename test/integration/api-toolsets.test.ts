import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CellarClient } from '../../libs/testing/src/index.js';
import { type TestApi, startTestApi } from './api-fixture.js';

const tool = (name: string, more: object = {}) => ({
  name,
  description: 'A tool',
  inputSchema: { type: 'object', properties: { constructor: { type: 'string' } } },
  exposure: 'core',
  delivery: { kind: 'client' },
  ...more,
});

describe('toolsets', () => {
  let api: TestApi;
  let client: CellarClient;
  beforeAll(async () => {
    api = await startTestApi();
    client = await api.tenant();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('get a new version with each PUT, and an identifier for each tool', async () => {
    const tools = [tool('my-tool'), tool('1st', { namespace: 'kit' }), tool('größe \0 \ud800')];
    expect(await client.ok('PUT', '/v1/toolsets/versions', { tools })).toEqual({
      name: 'versions',
      version: 1,
      tools: [
        { tool: 'my-tool', identifier: 'my_tool' },
        { tool: '1st', identifier: 'kit__1st' },
        { tool: 'größe \0 \ud800', identifier: 'größe____' },
      ],
    });
    const more = { description: 'd', instructions: 'i' };
    expect(await client.ok('PUT', '/v1/toolsets/versions', { ...more, tools })).toMatchObject({ version: 2 });
    expect(await client.ok('GET', '/v1/toolsets/versions')).toEqual({ name: 'versions', version: 2, ...more, tools });
  });

  it('are listed by name until they are deleted', async () => {
    const other = await api.tenant();
    for (const name of ['b', 'a', 'b']) await other.ok('PUT', `/v1/toolsets/${name}`, { tools: [] });
    expect(await other.ok('GET', '/v1/toolsets')).toEqual({
      toolsets: [
        { name: 'a', version: 1 },
        { name: 'b', version: 2 },
      ],
    });
    expect((await other.send('DELETE', '/v1/toolsets/b')).status).toBe(204);
    expect((await other.send('DELETE', '/v1/toolsets/b')).status).toBe(404);
    expect((await other.send('GET', '/v1/toolsets/b')).status).toBe(404);
    expect(await other.ok('PUT', '/v1/toolsets/b', { tools: [] })).toMatchObject({ version: 3 });
  });

  it('never give the headers of a delivery back', async () => {
    const delivery = { kind: 'http', url: 'https://example.org/call', headers: { authorization: 'Bearer secret' } };
    await client.ok('PUT', '/v1/toolsets/secretive', { tools: [tool('a', { delivery })] });
    const { headers: _headers, ...shown } = delivery;
    expect(await client.ok('GET', '/v1/toolsets/secretive')).toMatchObject({ tools: [{ delivery: shown }] });
    expect(JSON.stringify(await client.ok('GET', '/v1/toolsets/secretive'))).not.toContain('secret"');
  });

  it('point at what is wrong with a schema', async () => {
    const inputSchema = { type: 'object', properties: { 'a/b': { type: 'strin' } } };
    const problem = await client.problem('PUT', '/v1/toolsets/faulty', {
      tools: [tool('ok'), tool('bad', { inputSchema })],
    });
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors?.map(({ pointer }) => pointer)).toContain('/tools/1/inputSchema/properties/a~1b/type');
    const output = await client.problem('PUT', '/v1/toolsets/faulty', {
      tools: [tool('a', { outputSchema: { type: 5 } })],
    });
    expect(output.errors?.[0]?.pointer).toBe('/tools/0/outputSchema/type');
    expect((await client.problem('GET', '/v1/toolsets/faulty')).status).toBe(404);
  });

  it('name both tools that would have one identifier', async () => {
    const tools = [tool('a-b'), tool('x'), tool('a b')];
    const problem = await client.problem('PUT', '/v1/toolsets/twice', { tools });
    expect(problem).toMatchObject({ status: 409, code: 'tool_name_collision' });
    expect(problem.detail).toMatch(/"a-b".*"a b".*tools\.a_b/);
    const apart = [tool('a-b'), tool('a b', { namespace: 'kit' })];
    expect((await client.send('PUT', '/v1/toolsets/twice', { tools: apart })).status).toBe(200);
  });

  it('hold ten thousand tools, and the process stays at the service of others', async () => {
    const tools = Array.from({ length: 10_000 }, (_, i) => tool(`tool-${i}`));
    const putting = client.send('PUT', '/v1/toolsets/large', { tools });
    const live = await fetch(`${api.url}/health/live`);
    expect(live.status).toBe(200);
    expect((await putting).status).toBe(200);
    const toolsets = [{ toolset: 'large' }];
    expect((await client.send('PUT', '/v1/conversations/large', { kind: 'direct', toolsets })).status).toBe(200);
  });
});
