import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#libs/persistence';
import { type CellarClient, Cluster, eventually, textsOf } from '../../libs/testing/src/index.js';

describe('cells over two API and two worker processes', () => {
  let cluster: Cluster;
  let ann: CellarClient;
  let db: Database;
  beforeAll(async () => {
    cluster = await Cluster.start({ apis: 2, workers: 2 });
    ann = await cluster.tenant();
    db = new Database({ url: cluster.databaseUrl, poolSize: 2, applicationName: 'test' });
  });
  afterAll(async () => {
    await db[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });
  /** Waits until a request that was answered has left the place, and the next one has it. */
  const untilObserved = (cellId: string) =>
    eventually(async () => {
      const text = 'SELECT 1 FROM cells WHERE id = $1 AND observer IS NOT NULL AND observed';
      return (await db.query({ name: 'observed', text }, [cellId])).length > 0;
    });
  const second = () => ann.at(cluster.api(1));

  it('runs a script and gives its output once', async () => {
    const conversation = await ann.conversation();
    const result = await conversation.exec("text('hi')");
    expect(result).toMatchObject({ dialect: 'exec', state: 'completed', isError: false });
    expect(textsOf(result)).toEqual(['hi']);
    expect(result.effective).toEqual({ yield_time_ms: 10_000, max_output_tokens: 10_000 });
    const gone = await conversation.waitProblem(result.cellId);
    expect(gone).toMatchObject({ status: 404, code: 'cell_not_found' });
    expect(gone.detail).toContain('start a new exec');
  });

  it('waits through one API process for a cell that was started through the other', async () => {
    const conversation = await ann.conversation();
    const first = await conversation.exec(
      "text('one'); yield_control(); await new Promise(r => setTimeout(r, 100)); text('two'); return load('k') === undefined",
    );
    expect(first.state).toBe('running');
    expect(textsOf(first)).toEqual(['one']);
    const last = await conversation.through(second()).wait(first.cellId);
    expect(last.state).toBe('completed');
    expect(textsOf(last)).toEqual(['two', 'true']);
  });

  it('stops a busy script through the other API process', async () => {
    const conversation = await ann.conversation();
    const first = await conversation.exec('// @exec: {"yield_time_ms": 30}\ntext("before"); while (true) {}');
    expect(first.state).toBe('running');
    const last = await conversation.through(second()).wait(first.cellId, { terminate: true });
    expect(last.state).toBe('terminated');
    expect([...textsOf(first), ...textsOf(last)]).toEqual(['before']);
    expect((await conversation.waitProblem(first.cellId)).code).toBe('cell_not_found');
  });

  it('gives the rest to the observer and nothing to the one who stops', async () => {
    const conversation = await ann.conversation();
    const first = await conversation.exec(
      '// @exec: {"yield_time_ms": 0}\nfor (;;) await new Promise(r => setTimeout(r, 10))',
    );
    const observing = conversation.wait(first.cellId);
    await untilObserved(first.cellId);
    const busy = await conversation.through(second()).waitProblem(first.cellId);
    expect(busy).toMatchObject({
      status: 409,
      code: 'observer_busy',
      detail: `exec cell ${first.cellId} already has an active observer`,
    });
    const stopped = await conversation.through(second()).wait(first.cellId, { terminate: true });
    expect(stopped).toMatchObject({ state: 'terminated' });
    expect(stopped.content).toHaveLength(1);
    expect((await observing).state).toBe('terminated');
    expect((await conversation.waitProblem(first.cellId)).code).toBe('cell_not_found');
  });

  it('frees the place of an observer that goes away, and loses none of its output', async () => {
    const conversation = await ann.conversation();
    const first = await conversation.exec(
      "yield_control(); text('kept'); await new Promise(r => setTimeout(r, 60000))",
    );
    const leaving = new AbortController();
    const observing = ann
      .send('POST', `${conversation.path}/wait`, { cell_id: first.cellId }, { signal: leaving.signal })
      .catch(() => 'left');
    await untilObserved(first.cellId);
    leaving.abort();
    expect(await observing).toBe('left');
    const next = await untilFree(() => conversation.through(second()).wait(first.cellId, { yield_time_ms: 10 }));
    expect(textsOf(next)).toEqual(['kept']);
    await conversation.wait(first.cellId, { terminate: true });
  });

  it('keeps values of exec over failures and of codemode on success only, per branch', async () => {
    const conversation = await ann.conversation();
    await conversation.exec("store('k', 'root'); throw new Error('x')");
    await ann.ok('POST', `${conversation.path}/branches`, { branchId: 'b' });
    await conversation.codemode("store('k', 'lost'); throw new Error('x')", { branchId: 'b' });
    expect(textsOf(await conversation.exec("text(load('k'))", { branchId: 'b' }))).toEqual(['root']);
    await conversation.codemode("store('k', 'branch')", { branchId: 'b' });
    expect(textsOf(await conversation.exec("text(load('k'))", { branchId: 'b' }))).toEqual(['branch']);
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['root']);
    const unknown = await ann.problem('POST', `${conversation.path}/exec`, { source: '1', branchId: 'nope' });
    expect(unknown).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('runs many cells at once, each with its own output', async () => {
    const conversation = await ann.conversation();
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (i % 2 ? conversation.through(second()) : conversation).exec(`text(${i})`)),
    );
    expect(results.map((result) => textsOf(result)[0])).toEqual(Array.from({ length: 60 }, (_, i) => String(i)));
  });

  it('keeps members of a room apart', async () => {
    const room = await ann.conversation({ kind: 'room' });
    const missing = await ann.problem('POST', `${room.path}/exec`, { source: '1' });
    expect(missing).toMatchObject({ status: 422, code: 'member_required' });
    const mine = await room.exec(
      "yield_control(); store('k', 1); await new Promise(r => setTimeout(r, 50)); text('mine')",
      {
        memberId: 'ann',
      },
    );
    expect((await room.waitProblem(mine.cellId, { memberId: 'bob' })).code).toBe('cell_not_found');
    expect((await room.waitProblem(mine.cellId, { memberId: 'bob', terminate: true })).code).toBe('cell_not_found');
    expect(textsOf(await room.wait(mine.cellId, { memberId: 'ann' }))).toEqual(['mine']);
    expect(textsOf(await room.exec("text(load('k'))", { memberId: 'bob' }))).toEqual(['undefined']);
    expect(textsOf(await room.exec("text(load('k'))", { memberId: 'ann' }))).toEqual(['1']);
  });

  it('shows nothing of one tenant to another: the same answers as for what never was', async () => {
    const conversation = await ann.conversation();
    const cell = await conversation.exec('yield_control(); await new Promise(r => setTimeout(r, 60000))');
    const bob = await cluster.tenant('another');
    const foreign = await conversation.through(bob).waitProblem(cell.cellId);
    await bob.ok('PUT', conversation.path, { kind: 'direct' });
    const same = await conversation.through(bob).waitProblem(cell.cellId, { terminate: true });
    const never = await conversation.through(bob).waitProblem('c_0000000000000000');
    const malformed = await conversation.through(bob).waitProblem('../x');
    const nowhere = await bob.problem('POST', '/v1/conversations/%20/wait', { cell_id: cell.cellId });
    expect([foreign, same, malformed, nowhere]).toEqual([never, never, never, never]);
    expect((await conversation.wait(cell.cellId, { terminate: true })).state).toBe('terminated');
  });

  it('lists the cells of a writer, newest first, page by page, and collects nothing', async () => {
    const conversation = await ann.conversation();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await conversation.exec(i === 2 ? 'throw 1' : 'text(1)')).cellId);
    type Page = { cells: { cellId: string; state: string; error?: { code: string } }[]; next?: string };
    const first = await ann.ok<Page>('GET', `${conversation.path}/cells?limit=3`);
    const second = await ann.ok<Page>('GET', `${conversation.path}/cells?limit=3&cursor=${first.next}`);
    expect([...first.cells, ...second.cells].map((cell) => cell.cellId)).toEqual(ids);
    expect(second.next).toBeUndefined();
    expect(first.cells[2]).toMatchObject({ state: 'failed', error: { code: 'script_error' } });
  });

  it('stops the cells of the older epoch when the model is switched', async () => {
    const conversation = await ann.conversation({ kind: 'direct', model: 'one' });
    const cell = await conversation.exec(
      "store('k', 1); yield_control(); for (;;) await new Promise(r => setTimeout(r, 5))",
    );
    const { epoch } = await ann.ok<{ epoch: number }>('PUT', conversation.path, { kind: 'direct', model: 'two' });
    expect(epoch).toBe(2);
    expect((await conversation.through(second()).waitProblem(cell.cellId)).code).toBe('cell_not_found');
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['undefined']);
  });
});

/** What a wait gives once the place is free. */
async function untilFree<Result>(wait: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await wait();
    } catch (error) {
      if (!String(error).includes('observer_busy')) throw error;
    }
  }
}
