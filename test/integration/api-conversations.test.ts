import { defaultSettings } from '#libs/core';
import type { CellResult, Doorbell } from '#libs/contracts';
import { Doorbells } from '#libs/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CellarClient, eventually } from '../../libs/testing/src/index.js';
import { type TestApi, startTestApi } from './api-fixture.js';

const path = (id: string) => `/v1/conversations/${id}`;
const tool = (name: string, more: object = {}) => ({
  name,
  description: 'A tool',
  inputSchema: { type: 'object' },
  exposure: 'core',
  delivery: { kind: 'client' },
  ...more,
});

describe('conversations', () => {
  let api: TestApi;
  let client: CellarClient;
  beforeAll(async () => {
    api = await startTestApi({ CELLAR_RETENTION_MS: '5000', CELLAR_MAX_OUTPUT_TOKENS: '20000' });
    client = await api.tenant();
    await client.ok('PUT', '/v1/toolsets/kit', { tools: [tool('my-tool')] });
    await client.ok('PUT', '/v1/toolsets/other', { tools: [tool('my_tool')] });
    await client.ok('PUT', '/v1/toolsets/agents', {
      tools: [tool('subagent', { exposure: 'model-only', delivery: undefined })],
    });
    await client.ok('PUT', '/v1/toolsets/reserved', { tools: [tool('exec'), tool('then')] });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('are created with all settings filled in', async () => {
    const made = await client.ok('PUT', path('new'), { kind: 'room' });
    const settings = { ...defaultSettings, retentionMs: 5_000 };
    expect(made).toEqual({ conversationId: 'new', kind: 'room', model: null, epoch: 1, toolsets: [], settings });
    expect(await client.ok('GET', path('new'))).toEqual(made);
  });

  it('keep what a later PUT leaves out', async () => {
    const toolsets = [{ toolset: 'kit', memberIds: ['ann'], exposure: 'deferred' }];
    const settings = { mode: 'only', cpuLimitMs: 5, maxOutputTokens: 100_000 };
    await client.ok('PUT', path('kept'), { kind: 'direct', model: 'm \0 \ud800', toolsets, settings });
    expect(await client.ok('GET', path('kept'))).toMatchObject({ settings: { cpuLimitMs: 5 } });
    const later = await client.ok('PUT', path('kept'), { kind: 'direct', settings: { cpuLimitMs: 6 } });
    expect(later).toMatchObject({ model: 'm \0 \ud800', epoch: 1, toolsets });
    expect(await client.ok('GET', path('kept'))).toEqual(later);
    expect(later).toMatchObject({
      settings: { mode: 'only', cpuLimitMs: 6, maxOutputTokens: 20_000, wallLimitMs: 3_600_000 },
    });
    expect(await client.ok('PUT', path('kept'), { kind: 'direct', toolsets: [] })).toMatchObject({ toolsets: [] });
  });

  it('do not change their kind', async () => {
    await client.ok('PUT', path('kind'), { kind: 'direct' });
    expect(await client.problem('PUT', path('kind'), { kind: 'room' })).toMatchObject({
      status: 409,
      code: 'conflict',
    });
  });

  it('start a new epoch with another model, in which the branches are gone', async () => {
    await client.ok('PUT', path('switch'), { kind: 'direct' });
    expect(await client.ok('PUT', path('switch'), { kind: 'direct', model: 'one' })).toMatchObject({ epoch: 1 });
    await client.ok('POST', `${path('switch')}/branches`, { branchId: 'b' });
    expect(await client.ok('PUT', path('switch'), { kind: 'direct', model: 'one' })).toMatchObject({ epoch: 1 });
    expect(await client.ok('PUT', path('switch'), { kind: 'direct', model: 'two' })).toMatchObject({ epoch: 2 });
    expect(await client.ok('POST', `${path('switch')}/branches`, { branchId: 'b' })).toMatchObject({
      parentId: 'main',
    });
    expect(await client.ok('PUT', path('switch'), { kind: 'direct', model: null })).toMatchObject({
      epoch: 3,
      model: null,
    });
  });

  it('stop their cells when the model changes, and tell the observer', async () => {
    await client.ok('PUT', path('busy'), { kind: 'direct', model: 'one' });
    const observing = client.ok<CellResult>('POST', `${path('busy')}/exec`, { source: 'text(1)' });
    await eventually(async () => {
      const { cells } = await client.ok<{ cells: unknown[] }>('GET', `${path('busy')}/cells`);
      return cells.length === 1;
    });
    await client.ok('PUT', path('busy'), { kind: 'direct', model: 'two' });
    const result = await observing;
    expect(result.state).toBe('terminated');
    const { cellId: cell_id } = result;
    expect((await client.problem('POST', `${path('busy')}/wait`, { cell_id })).code).toBe('cell_not_found');
  });

  it('have the guests of their cells ended by the workers when the model changes', async () => {
    await client.ok('PUT', path('running'), { kind: 'direct', model: 'one' });
    const observing = client.ok<CellResult>('POST', `${path('running')}/exec`, { source: 'text(1)' });
    // A worker that has the cell: it listens, and says that the guest has ended.
    const workerId = 'worker-of-this-test';
    const bells: Doorbell[] = [];
    const redis = { url: api.env['REDIS_URL'] ?? '', prefix: `{${api.env['CELLAR_REDIS_PREFIX']}}` };
    await using worker = new Doorbells({ ...redis, processId: workerId, onProblem: () => undefined });
    await worker.listen({
      ring: (bell) => {
        bells.push(bell);
        if (bell.kind === 'stop') worker.ring(bell.replyTo, { kind: 'stopped', cellId: bell.cellId });
      },
      resubscribed: () => undefined,
    });
    const claim = `UPDATE cells SET state = 'running', worker_id = $2 WHERE conversation_id = $1 RETURNING id`;
    const { id: cellId } = await eventually(async () => {
      const rows = await api.database.query<{ id: string }>({ name: 'claim', text: claim }, ['running', workerId]);
      return rows[0];
    });
    await client.ok('PUT', path('running'), { kind: 'direct', model: 'two' });
    expect(bells).toMatchObject([{ kind: 'stop', cellId }]);
    expect((await observing).state).toBe('terminated');
  });

  it('point at a toolset that is not there', async () => {
    const toolsets = [{ toolset: 'kit' }, { toolset: 'nowhere' }];
    const problem = await client.problem('PUT', path('unbound'), { kind: 'direct', toolsets });
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer: '/toolsets/1/toolset' }],
    });
    expect((await client.problem('GET', path('unbound'))).status).toBe(404);
  });

  it('refuse two tools of one identifier for one writer, and name both', async () => {
    const put = (toolsets: object[]) => client.send('PUT', path('views'), { kind: 'room', toolsets });
    const both = await put([{ toolset: 'kit' }, { toolset: 'other' }]);
    expect(both).toMatchObject({ status: 409, body: { code: 'tool_name_collision' } });
    expect(JSON.stringify(both.body)).toMatch(/my-tool.*my_tool/);
    const ann = { toolset: 'kit', memberIds: ['ann'] };
    expect((await put([ann, { toolset: 'other' }])).status).toBe(409);
    expect((await put([ann, { toolset: 'other', memberIds: ['bob', 'ann'] }])).status).toBe(409);
    expect((await put([ann, { toolset: 'other', memberIds: ['bob'] }])).status).toBe(200);
    expect((await put([{ toolset: 'reserved', memberIds: ['ann'] }])).body).toMatchObject({
      code: 'tool_name_collision',
    });
  });

  it('refuse an exposure that a tool without a delivery cannot have', async () => {
    const put = (exposure?: string) =>
      client.send('PUT', path('agents'), { kind: 'direct', toolsets: [{ toolset: 'agents', exposure }] });
    expect((await put()).status).toBe(200);
    expect((await put('model-only')).status).toBe(200);
    expect(await put('core')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/toolsets/0/exposure' }] } });
  });

  it('keep the version of a toolset that they have bound until they bind it anew', async () => {
    const versions = async (): Promise<unknown> => {
      const text = 'SELECT toolsets FROM conversations WHERE id = $1';
      const [row] = await api.database.query<{ toolsets: string }>({ name: 'bound', text }, ['pinned']);
      return (JSON.parse(row?.toolsets ?? '[]') as { version: number }[]).map(({ version }) => version);
    };
    const toolsets = [{ toolset: 'growing' }];
    await client.ok('PUT', '/v1/toolsets/growing', { tools: [tool('a')] });
    await client.ok('PUT', path('pinned'), { kind: 'direct', toolsets });
    await client.ok('PUT', '/v1/toolsets/growing', { tools: [tool('exec')] });
    await client.ok('PUT', path('pinned'), { kind: 'direct', model: 'm' });
    expect(await versions()).toEqual([1]);
    expect((await client.problem('PUT', path('pinned'), { kind: 'direct', toolsets })).code).toBe(
      'tool_name_collision',
    );
    await client.ok('PUT', '/v1/toolsets/growing', { tools: [tool('b')] });
    await client.ok('PUT', path('pinned'), { kind: 'direct', toolsets });
    expect(await versions()).toEqual([3]);
    await client.ok('DELETE', '/v1/toolsets/growing');
    expect(await client.ok('PUT', path('pinned'), { kind: 'direct' })).toMatchObject({ toolsets });
    expect((await client.problem('PUT', path('pinned'), { kind: 'direct', toolsets })).status).toBe(400);
  });

  it('fork branches, of branches too, each once', async () => {
    await client.ok('PUT', path('tree'), { kind: 'direct' });
    const fork = (body: object) => client.send('POST', `${path('tree')}/branches`, body);
    expect(await fork({ branchId: 'a' })).toMatchObject({
      status: 201,
      body: { branchId: 'a', parentId: 'main', forkedAt: 0 },
    });
    expect(await fork({ branchId: 'b', from: { branchId: 'a', sequence: 5 } })).toMatchObject({
      body: { branchId: 'b', parentId: 'a', forkedAt: 0 },
    });
    expect(await fork({ branchId: 'a' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await fork({ branchId: 'c', from: { branchId: 'nowhere' } })).toMatchObject({ status: 404 });
  });

  it('are one when many create them at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => client.send('PUT', path('rush'), { kind: i % 2 ? 'room' : 'direct' })),
    );
    const { kind } = await client.ok<{ kind: string }>('GET', path('rush'));
    for (const [i, { status }] of replies.entries())
      expect(status).toBe((i % 2 ? 'room' : 'direct') === kind ? 200 : 409);
  });
});
