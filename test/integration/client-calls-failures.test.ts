import { Database } from '#libs/persistence';
import { expect, it } from 'vitest';
import {
  Cluster,
  answerAll,
  clientTool,
  conversationWith,
  eventually,
  postResults,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';

const tools = [clientTool('ask'), clientTool('other')];

/** Makes statements of a kind take a second before they do anything. */
async function makeSlow(db: Database, statements: string): Promise<void> {
  const body = `'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'`;
  await db.query({ name: 'slowly', text: `CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS ${body}` }, []);
  await db.query({ name: 'slow', text: `CREATE TRIGGER slow ${statements} EXECUTE FUNCTION slowly()` }, []);
}

it('a call told by a process that was killed is answered at another one, and at one started since', async () => {
  await using cluster = await Cluster.start({ apis: 2 });
  const tenant = await cluster.tenant();
  const conversation = await conversationWith(tenant, tools);
  const cell = await conversation.exec('return [await tools.ask({}), await tools.other({})]');
  const observing = conversation.wait(cell.cellId, { yield_time_ms: 60_000 }).catch(() => 'broken');
  cluster.api(0).signal('SIGKILL');
  expect(await observing).toBe('broken');
  const other = conversation.through(tenant.at(cluster.api(1)));
  const results = cell.pendingCalls.map(({ callId }) => ({ callId, ...saying('one') }));
  const first = await postResults(other, results);
  expect([first.status, first.body.results[0]?.status]).toEqual([200, 'settled']);
  const fresh = conversation.through(tenant.at(await cluster.startApi()));
  // The place of the killed process is free within 5 s.
  const next = await eventually(() => fresh.wait(cell.cellId, { yield_time_ms: 60_000 }), { withinMs: 10_000 });
  const last = (await answerAll(fresh, next, () => saying('two'))).at(-1);
  expect(last?.state).toBe('completed');
  expect(last && textsOf(last)).toEqual(['["one","two"]']);
});

it('a lost worker: the error names the calls that were made', async () => {
  await using cluster = await Cluster.start();
  const conversation = await conversationWith(await cluster.tenant(), tools);
  const cell = await conversation.exec('await tools.ask({}); await tools.other({})');
  const posted = await postResults(
    conversation,
    cell.pendingCalls.map(({ callId }) => ({ callId, ...saying('done') })),
    { observe: { cell_id: cell.cellId } },
  );
  expect(posted.body.cell?.pendingCalls.map(({ identifier }) => identifier)).toEqual(['other']);
  cluster.worker().signal('SIGKILL');
  const end = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
  const made = 'Tool calls made before the failure (they are not undone): ask (completed), other (cancelled)';
  expect(end.error?.code).toBe('worker_lost');
  expect(end.error?.message).toContain(made);
  expect(textsOf(end)).toEqual([`Script error:\n${end.error?.message ?? ''}`]);
  expect(end.calls.map(({ identifier, state }) => [identifier, state])).toEqual([
    ['ask', 'completed'],
    ['other', 'cancelled'],
  ]);
});

it('a worker without a heartbeat for over 5 s makes no call before the next one', async () => {
  await using cluster = await Cluster.start();
  const conversation = await conversationWith(await cluster.tenant(), tools);
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 4, applicationName: 'test' });
  const calls = async () => db.query({ name: 'calls', text: 'SELECT id FROM calls' }, []);
  const cell = await conversation.exec(
    `// @exec: {"yield_time_ms": 0}
     await new Promise((r) => setTimeout(r, 8000)); text('calling'); yield_control(); return await tools.ask({})`,
  );
  await db.transaction(async (tx) => {
    // Whoever would beat waits for this lock; all else goes on.
    await tx.query({ name: 'lock-workers', text: 'SELECT id FROM workers FOR UPDATE' }, []);
    expect(textsOf(await conversation.wait(cell.cellId, { yield_time_ms: 30_000 }))).toEqual(['calling']);
    const later = await conversation.wait(cell.cellId, { yield_time_ms: 500 });
    expect(later).toMatchObject({ state: 'running', pendingCalls: [] });
    expect(await calls()).toEqual([]);
  });
  const next = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
  expect(next.pendingCalls.map(({ identifier }) => identifier)).toEqual(['ask']);
  expect((await answerAll(conversation, next, () => saying('late'))).at(-1)?.state).toBe('completed');
});

it('a slow Postgres: a call that comes while answers are asked for others is made as well', async () => {
  await using cluster = await Cluster.start();
  const conversation = await conversationWith(await cluster.tenant(), tools);
  // The worker's threads have started when it is measured.
  await answerAll(conversation, await conversation.exec('await tools.ask({})'), () => saying('warm'));
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 1, applicationName: 'test' });
  await makeSlow(db, 'BEFORE INSERT OR UPDATE OF asked ON calls');
  // The first call is written while the script computes; the other comes while an answer is asked for the first.
  const cell = await conversation.exec(
    `const first = tools.ask({}); for (const until = Date.now() + 700; Date.now() < until; );
     await new Promise((r) => setTimeout(r, 900)); return await Promise.all([first, tools.other({})])`,
  );
  const last = (await answerAll(conversation, cell, () => saying('yes'))).at(-1);
  expect(last && textsOf(last)).toEqual(['["yes","yes"]']);
});

it('a slow Postgres: results posted before an answer was marked as given are followed by the end', async () => {
  await using cluster = await Cluster.start();
  const conversation = await conversationWith(await cluster.tenant(), tools);
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 1, applicationName: 'test' });
  await makeSlow(db, 'BEFORE UPDATE OF collected ON cells');
  const cell = await conversation.exec('return await tools.ask({})');
  const last = (await answerAll(conversation, cell, () => saying('yes'))).at(-1);
  expect(last?.state).toBe('completed');
  expect(last && textsOf(last)).toEqual(['yes']);
});
