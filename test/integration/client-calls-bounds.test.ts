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

const tools = [clientTool('ask')];
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
