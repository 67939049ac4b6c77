import type { CellResult, Problem, ToolResults } from '#libs/contracts';
import { newCallId, newProcessId } from '#libs/core';
import { beatWorker, claimCell, endCell, insertCalls, registerWorker } from '#libs/persistence';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CellarClient, type ConversationClient, eventually } from '../../libs/testing/src/index.js';
import { type TestApi, startTestApi } from './api-fixture.js';

// There is no worker here: the test claims cells and makes calls with a worker's own statements, and what a doorbell
// would tell is found by the look of once a second.
describe('tool results', () => {
  let api: TestApi;
  let client: CellarClient;
  const workerId = newProcessId('worker');
  let beating: NodeJS.Timeout;
  beforeAll(async () => {
    api = await startTestApi();
    client = await api.tenant();
    await registerWorker(api.database, { workerId, slots: 1, imageVersion: 'test' });
    beating = setInterval(() => void beatWorker(api.database, workerId), 1_000);
    const inputSchema = { type: 'object' };
    const tool = { name: 'my-tool', namespace: 'kit', description: '', inputSchema, exposure: 'core' };
    await client.ok('PUT', '/v1/toolsets/kit', { tools: [{ ...tool, delivery: { kind: 'client' } }] });
  });
  afterAll(async () => {
    clearInterval(beating);
    await api[Symbol.asyncDispose]();
  });

  const refOf = (cellId: string) => ({ cellId, stretch: 1, workerId });
  const call = (number: number) => ({
    callId: newCallId(),
    number,
    tool: 'my-tool',
    namespace: 'kit',
    toolset: 'kit',
    identifier: 'kit__my_tool',
    arguments: '{"value":"\\u0000"}',
    timeoutMs: 60_000,
  });
  const queued = async (): Promise<string> => {
    const text = `SELECT id FROM cells WHERE state = 'queued' LIMIT 1`;
    let found: { id: string }[] = [];
    await eventually(async () => (found = await api.database.query({ name: 'queued', text }, [])).length > 0);
    return found[0]?.id ?? '';
  };
  /** Starts a script that makes calls, and gives its first answer. */
  const started = async (count: number, more: object = {}, dialect: 'exec' | 'codemode' = 'exec', given?: object) => {
    const conversation = await client.conversation(given ?? { kind: 'direct', toolsets: [{ toolset: 'kit' }] });
    const answering = conversation[dialect]('1', more);
    const cellId = await queued();
    await claimCell(api.database, refOf(cellId));
    const calls = Array.from({ length: count }, (_, at) => call(at + 1));
    await insertCalls(api.database, refOf(cellId), calls, { told: false, asked: true });
    return { conversation, cellId, answer: await answering, callIds: calls.map(({ callId }) => callId) };
  };
  const end = (cellId: string, state: 'completed' | 'failed' = 'completed') =>
    endCell(api.database, refOf(cellId), {
      state,
      ...(state === 'failed' && { failure: { code: 'script_error' as const, message: 'Error: boom' } }),
      warnings: [],
      cpuMs: 1,
      output: { first: 0, items: [] },
    });
  const saying = (callId: string, text = 'pong') => ({ callId, result: { content: [{ type: 'text', text }] } });
  const post = (at: ConversationClient, results: object[], more: object = {}) =>
    at.client.send<ToolResults & Problem>('POST', `${at.path}/tool-results`, { results, ...more });

  it.each(['exec', 'codemode'] as const)('are asked for in an early answer of %s, once', async (dialect) => {
    const { conversation, cellId, answer, callIds } = await started(2, {}, dialect);
    expect(answer).toMatchObject({ state: 'running', isError: false });
    expect(answer.content).toHaveLength(1);
    expect(answer.pendingCalls[0]).toEqual({
      callId: callIds[0],
      tool: 'my-tool',
      namespace: 'kit',
      toolset: 'kit',
      identifier: 'kit__my_tool',
      arguments: { value: '\0' },
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(answer.calls.map((row) => [row.callId, row.row, row.state])).toEqual(
      callIds.map((id) => [id, 'kit__my_tool', 'running']),
    );
    // They have been told, so that the next observation lasts; its answer lists what is still open.
    await post(conversation, [saying(callIds[0] ?? '')]);
    const startedAt = performance.now();
    const later = await conversation.wait(cellId, { yield_time_ms: 300 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300);
    expect(later.pendingCalls.map(({ callId }) => callId)).toEqual([callIds[1]]);
    expect(later.calls.map(({ state }) => state)).toEqual(['completed', 'running']);
  });

  it('settle each call once, whoever posts what and when', async () => {
    const { conversation, cellId, callIds } = await started(3);
    const [one = '', two = '', three = ''] = callIds;
    const { status, body } = await post(conversation, [
      { callId: one, result: { structuredContent: { b: 1, a: 2 }, content: [] } },
      { callId: one, result: { content: [], structuredContent: { a: 2, b: 1 } } },
      saying(one),
      { callId: two, error: { message: 'no luck' } },
      saying('call_0000000000000000'),
    ]);
    expect(status).toBe(200);
    const statuses = body.results.map((entry) => entry.status);
    expect(statuses).toEqual(['settled', 'duplicate', 'conflict', 'settled', 'not_found']);
    expect(await post(conversation, [{ callId: two, error: { message: 'no luck' } }])).toMatchObject({ status: 200 });
    const other = await post(conversation, [saying(two)]);
    expect(other).toMatchObject({ status: 409, body: { code: 'tool_result_conflict' } });
    await end(cellId);
    expect(await post(conversation, [saying(three)])).toMatchObject({ status: 410, body: { code: 'call_closed' } });
    const mixed = await post(conversation, [saying(three), saying(one)]);
    expect(mixed.body.results.map((entry) => entry.status)).toEqual(['closed', 'conflict']);
    const result = await conversation.wait(cellId);
    expect(result.calls.map(({ state }) => state)).toEqual(['completed', 'failed', 'cancelled']);
    expect(result.pendingCalls).toEqual([]);
  });

  it('of two posted at once have one that counts', async () => {
    const { conversation, callIds } = await started(1);
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((text) => post(conversation, [saying(callIds[0] ?? '', text)])),
    );
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    expect([count(200), count(409)]).toEqual([1, 2]);
  });

  it('of others are not found, in words that do not tell', async () => {
    const room = { kind: 'room', toolsets: [{ toolset: 'kit' }] };
    const { conversation, callIds } = await started(1, { memberId: 'ann' }, 'exec', room);
    const results = [saying(callIds[0] ?? '')];
    const never = await post(conversation, [saying('call_0000000000000000')], { memberId: 'ann' });
    const stranger = await api.tenant();
    await stranger.ok('PUT', conversation.path, { kind: 'direct' });
    const elsewhere = await client.conversation();
    for (const foreign of [
      await post(conversation, results, { memberId: 'bob' }),
      await post(conversation.through(stranger), results),
      await post(elsewhere, results),
    ]) {
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(never.body);
    }
    expect((await post(conversation, results)).body.code).toBe('member_required');
    expect((await post(conversation, results, { memberId: 'ann' })).status).toBe(200);
  });

  it('are settled before the cell is observed further', async () => {
    const { conversation, cellId, callIds } = await started(1);
    const posting = post(conversation, [saying(callIds[0] ?? '')], { observe: { cell_id: cellId } });
    const text = `SELECT 1 FROM calls WHERE id = $1 AND state = 'settled'`;
    await eventually(async () => (await api.database.query({ name: 'is-settled', text }, callIds)).length > 0);
    await end(cellId);
    const { body } = await posting;
    expect(body.results).toEqual([{ callId: callIds[0], status: 'settled' }]);
    expect(body.cell).toMatchObject({ cellId, state: 'completed', calls: [{ state: 'completed' }] });
    expect((await conversation.waitProblem(cellId)).code).toBe('cell_not_found');
  });

  it('are told also when the observation fails', async () => {
    const { conversation, callIds } = await started(1);
    const reply = await post(conversation, [saying(callIds[0] ?? '')], { observe: { cell_id: 'c_nothing' } });
    expect(reply).toMatchObject({ status: 404, body: { code: 'cell_not_found' } });
    expect(reply.body.results).toEqual([{ callId: callIds[0], status: 'settled' }]);
  });

  it('stand beside the error of a script that failed', async () => {
    const { conversation, cellId, callIds } = await started(2);
    await post(conversation, [saying(callIds[0] ?? '')]);
    await end(cellId, 'failed');
    const result: CellResult = await conversation.wait(cellId);
    expect(result.content[1]).toMatchObject({
      text: 'Script error:\nError: boom\nTool calls made before the failure (they are not undone): kit__my_tool (completed), kit__my_tool (cancelled)',
    });
  });

  it('of a stopped cell are closed', async () => {
    const { conversation, cellId, callIds } = await started(1);
    const stopped = await conversation.wait(cellId, { terminate: true });
    expect(stopped).toMatchObject({ state: 'terminated', calls: [{ state: 'cancelled' }], pendingCalls: [] });
    expect((await post(conversation, [saying(callIds[0] ?? '')])).body.code).toBe('call_closed');
  });

  it.each<[what: string, body: object, pointer: string]>([
    ['no results', { results: [] }, '/results'],
    ['too many', { results: Array.from({ length: 1_001 }, () => saying('x')) }, '/results'],
    ['neither result nor error', { results: [{ callId: 'x' }] }, '/results/0'],
    ['both', { results: [{ ...saying('x'), error: { message: '' } }] }, '/results/0'],
    ['no content', { results: [{ callId: 'x', result: {} }] }, '/results/0/result/content'],
    [
      'an unknown block',
      { results: [{ callId: 'x', result: { content: [{ type: 'smell' }] } }] },
      '/results/0/result/content/0/type',
    ],
    ['an unknown field', { results: [{ ...saying('x'), more: 1 }] }, '/results/0/more'],
    [
      'an observation that stops',
      { results: [saying('x')], observe: { cell_id: 'x', terminate: true } },
      '/observe/terminate',
    ],
  ])('with %s are refused', async (_what, body, pointer) => {
    const conversation = await client.conversation();
    const problem = await client.problem('POST', `${conversation.path}/tool-results`, body);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors?.map((fault) => fault.pointer)).toContain(pointer);
  });
});
