import { Database } from '#libs/persistence';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type CellarClient,
  Cluster,
  type ConversationClient,
  answerAll,
  clientTool,
  conversationWith,
  postResults,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';

// Calls that the platform runs, on real processes: two of the API and one worker.
const tools = [clientTool('ask'), clientTool('hasty', { timeoutMs: 300 })];
let cluster: Cluster;
let tenant: CellarClient;
let conversation: ConversationClient;
let elsewhere: ConversationClient;
beforeAll(async () => {
  cluster = await Cluster.start({ apis: 2, env: { WORKER_SLOTS: '1' } });
  tenant = await cluster.tenant();
  conversation = await conversationWith(tenant, tools);
  elsewhere = conversation.through(tenant.at(cluster.api(1)));
});
afterAll(() => cluster[Symbol.asyncDispose]());

const idsOf = (cell: { pendingCalls: { callId: string }[] }) => cell.pendingCalls.map(({ callId }) => callId);
const codeOf = ({ body }: { body: object }) => ('code' in body ? body.code : undefined);
const statusesOf = ({ body }: { body: { results: { status: string }[] } }) => body.results.map(({ status }) => status);

it('are answered in one process while another observes', async () => {
  const cell = await conversation.exec('return await tools.ask({})');
  const observing = conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
  const [callId] = idsOf(cell);
  expect(statusesOf(await postResults(elsewhere, [{ callId, ...saying('from elsewhere') }]))).toEqual(['settled']);
  expect(textsOf(await observing)).toEqual(['from elsewhere']);
});

it('are settled once by many posts of the same result at two processes', async () => {
  const cell = await conversation.exec('const got = await tools.ask({}); await tools.ask({}); return got');
  const [callId] = idsOf(cell);
  const posts = Array.from({ length: 50 }, (_, i) =>
    postResults(i % 2 ? elsewhere : conversation, [{ callId, ...saying('same') }]),
  );
  const replies = await Promise.all(posts);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  const statuses = replies.flatMap(statusesOf).sort();
  expect(statuses).toEqual([...Array.from({ length: 49 }, () => 'duplicate'), 'settled']);
  const conflict = await postResults(elsewhere, [{ callId, ...saying('other') }]);
  expect([conflict.status, codeOf(conflict)]).toEqual([409, 'tool_result_conflict']);
  const next = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
  const answers = await answerAll(conversation, next, () => saying('second'));
  expect(textsOf(answers.at(-1) ?? next)).toEqual(['same']);
  // The end of a cell closes nothing that was settled: the same result is still the same.
  expect(statusesOf(await postResults(conversation, [{ callId, ...saying('same') }]))).toEqual(['duplicate']);
});

it('are not found for other members, other tenants and in a newer epoch', async () => {
  const room = await conversationWith(tenant, tools, { kind: 'room' });
  const cell = await room.exec('return await tools.ask({})', { memberId: 'ann' });
  const results = [{ callId: idsOf(cell)[0], ...saying('x') }];
  const stranger = await cluster.tenant();
  await stranger.ok('PUT', room.path, { kind: 'room' });
  const foreign = [
    await postResults(room, results, { memberId: 'bob' }),
    await postResults(room.through(stranger), results, { memberId: 'ann' }),
    await postResults(elsewhere, results),
  ];
  expect(foreign.map((reply) => [reply.status, codeOf(reply)])).toEqual(foreign.map(() => [404, 'not_found']));
  expect((await postResults(room, results, { memberId: 'ann' })).status).toBe(200);

  const old = await conversationWith(tenant, tools, { model: 'one' });
  const olderCell = await old.exec('return await tools.ask({})');
  await tenant.ok('PUT', old.path, { kind: 'direct', model: 'two' });
  const late = await postResults(old.through(tenant.at(cluster.api(1))), [
    { callId: idsOf(olderCell)[0], ...saying('x') },
  ]);
  expect([late.status, codeOf(late)]).toEqual([404, 'not_found']);
});

it('that expire reject in the script, and take no result then', async () => {
  const cell = await conversation.exec(
    'try { await tools.hasty({}) } catch (e) { text(e.message) } return await tools.ask({})',
  );
  const [callId] = idsOf(cell);
  const next = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
  expect(textsOf(next)).toEqual(['tools.hasty was not answered within 300 ms. Whether it took effect is not known.']);
  expect(next.calls.map(({ identifier, state }) => [identifier, state])).toEqual([
    ['hasty', 'failed'],
    ['ask', 'running'],
  ]);
  const late = await postResults(elsewhere, [{ callId, ...saying('late') }]);
  expect([late.status, codeOf(late)]).toEqual([410, 'call_closed']);
  expect((await answerAll(conversation, next, () => saying('done'))).at(-1)?.state).toBe('completed');
});

it('that are open at a stop are cancelled, and closed to later results', async () => {
  const cell = await conversation.exec('await Promise.all([1, 2, 3].map((n) => tools.ask({ n })))');
  expect(cell.pendingCalls.map((call) => call.arguments)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  const end = await elsewhere.wait(cell.cellId, { terminate: true });
  expect(end).toMatchObject({ state: 'terminated', pendingCalls: [] });
  expect(end.calls.map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  const [callId] = idsOf(cell);
  const late = await postResults(conversation, [{ callId, ...saying('late') }]);
  expect([late.status, codeOf(late)]).toEqual([410, 'call_closed']);
});

it('of a fan-out of a thousand are at most 32 under way, and all come back', async () => {
  const cell = await conversation.exec(
    'const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => tools.ask({ n }))); return all.every((got, n) => got === `n${n}`)',
  );
  const answers = await answerAll(conversation, cell, (call) =>
    saying(`n${String((call.arguments as { n: number }).n)}`),
  );
  expect(Math.max(...answers.map((answer) => answer.pendingCalls.length))).toBe(32);
  const last = answers.at(-1);
  expect(last?.state).toBe('completed');
  expect(last && textsOf(last)).toEqual(['true']);
  expect(last?.calls).toHaveLength(1_000);
});

it('are made by conversations that were bound before there were views', async () => {
  const old = await conversationWith(tenant, tools);
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 1, applicationName: 'test' });
  const forget = { name: 'forget', text: `UPDATE conversations SET view = NULL WHERE id = $1 RETURNING tenant_id` };
  expect(await db.query(forget, [old.id])).toHaveLength(1);
  const cell = await old.exec('return await tools.ask({})');
  expect(cell.pendingCalls.map(({ identifier }) => identifier)).toEqual(['ask']);
  expect((await answerAll(old, cell, () => saying('yes'))).at(-1)?.state).toBe('completed');
});
