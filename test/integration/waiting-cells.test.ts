import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CellResult, ToolResults } from '#libs/contracts';
import {
  type CellarClient,
  Cluster,
  type ConversationClient,
  clientTool,
  conversationWith,
  eventually,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';

const WAITING = 40;

let cluster: Cluster;
let tenant: CellarClient;
let conversation: ConversationClient;
beforeAll(async () => {
  cluster = await Cluster.start({ apis: 2, env: { WORKER_SLOTS: '1' } });
  tenant = await cluster.tenant();
  conversation = await conversationWith(tenant, [clientTool('ask')]);
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** A gauge of the worker: threads by what they are doing, and scripts without one. */
async function threads(state: string): Promise<number> {
  const metrics = await (await fetch(`${cluster.worker().url}/metrics`)).text();
  return Number(new RegExp(`sandbox_threads\\{[^}]*state="${state}"[^}]*\\} (\\d+)`).exec(metrics)?.[1]);
}

const answer = (cell: CellResult, text: string, api = 0): Promise<ToolResults> =>
  tenant.at(cluster.api(api)).ok('POST', `${conversation.path}/tool-results`, {
    results: cell.pendingCalls.map(({ callId }) => ({ callId, ...saying(text) })),
    observe: { cell_id: cell.cellId },
  });

it('wait in tool calls by the dozen on one thread, beside others, and end in whatever order they are answered', async () => {
  const cells = await Promise.all(
    Array.from({ length: WAITING }, (_, i) =>
      conversation.exec(`const own = ${i}; text('before'); const got = await tools.ask({}); return [own, got]`),
    ),
  );
  for (const cell of cells) {
    expect(cell.state).toBe('running');
    expect(textsOf(cell)).toEqual(['before']);
    expect(cell.pendingCalls).toHaveLength(1);
  }
  await eventually(async () => (await threads('hibernated')) === WAITING);
  expect(textsOf(await conversation.exec('text(1)'))).toEqual(['1']);
  const order = cells.map((cell, i) => ({ cell, i })).sort((a, b) => (a.cell.cellId < b.cell.cellId ? -1 : 1));
  await Promise.all(
    order.map(async ({ cell, i }) => {
      const { cell: end } = await answer(cell, `answer ${i}`, i % 2);
      expect(end?.state).toBe('completed');
      expect(end && textsOf(end)).toEqual([JSON.stringify([i, `answer ${i}`])]);
    }),
  );
  await eventually(async () => (await threads('hibernated')) === 0 && (await threads('idle')) === 1);
});

it('are stopped while they have no thread', async () => {
  const [kept, stopped] = await Promise.all([1, 2].map(() => conversation.exec('return await tools.ask({})')));
  if (!kept || !stopped) throw new Error('no cells');
  await eventually(async () => (await threads('hibernated')) === 2);
  const end = await conversation.wait(stopped.cellId, { terminate: true });
  expect(end).toMatchObject({ state: 'terminated', calls: [{ identifier: 'ask', state: 'cancelled' }] });
  expect((await answer(kept, 'yes')).cell).toMatchObject({ state: 'completed' });
  const late = await tenant.problem('POST', `${conversation.path}/tool-results`, {
    results: stopped.pendingCalls.map(({ callId }) => ({ callId, result: { content: [] } })),
  });
  expect(late).toMatchObject({ status: 410, code: 'call_closed' });
});

it('reach their deadline and their timers without a thread', async () => {
  const late = await conversation.codemode('// @options: {"timeout_ms": 1500}\nawait tools.ask({})');
  expect(late.state).toBe('running');
  const timed = await conversation.exec(
    "await new Promise((r) => setTimeout(r, 400)); text('awake'); await tools.ask({})",
  );
  expect(textsOf(timed)).toEqual(['awake']);
  expect(await conversation.wait(late.cellId)).toMatchObject({ state: 'failed', error: { code: 'deadline' } });
  expect((await answer(timed, 'yes')).cell).toMatchObject({ state: 'completed' });
});

it('are told to the platform when they wait, not while they compute', async () => {
  const cell = await conversation.exec(
    `const call = tools.ask({});
     await null; text('computing'); { const until = Date.now() + 700; while (Date.now() < until) Math.sqrt(2) }
     text('done'); return await call`,
  );
  expect(cell.state).toBe('running');
  expect(textsOf(cell)).toEqual(['computing', 'done']);
  expect(cell.pendingCalls).toHaveLength(1);
  expect((await answer(cell, 'yes')).cell).toMatchObject({ state: 'completed' });
});
