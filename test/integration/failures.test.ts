import { Database } from '#libs/persistence';
import { describe, expect, it } from 'vitest';
import { Cluster, eventually, textsOf } from '../../libs/testing/src/index.js';

/** Waits until a worker has claimed a cell. */
async function untilRunning(cluster: Cluster, cellId: string): Promise<void> {
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 2, applicationName: 'test' });
  const running = { name: 'running', text: `SELECT 1 FROM cells WHERE id = $1 AND state = 'running'` };
  await eventually(async () => (await db.query(running, [cellId])).length > 0);
}

const FOR_EVER = 'for (;;) await new Promise(r => setTimeout(r, 20))';

describe('what is promised when things fail', () => {
  it('a killed worker: its cell ends as worker_lost within 15 s with no worker alive, a queued one runs later', async () => {
    await using cluster = await Cluster.start({ env: { WORKER_SLOTS: '1' } });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation({ kind: 'direct', settings: { stretchCpuLimitMs: 60_000 } });
    // It keeps its thread: one that waits would give it to the other cell.
    const running = await conversation.exec(`// @exec: {"yield_time_ms": 0}\nstore('k', 1); text('before'); for (;;);`);
    await untilRunning(cluster, running.cellId);
    const observing = conversation.wait(running.cellId, { yield_time_ms: 60_000 });
    const queued = await conversation.exec('// @exec: {"yield_time_ms": 0}\ntext(\'ran\')');
    cluster.worker().signal('SIGKILL');
    const killedAt = performance.now();
    const lost = await observing;
    expect(performance.now() - killedAt).toBeLessThan(15_000);
    expect(lost).toMatchObject({ state: 'failed', isError: true, error: { code: 'worker_lost' } });
    await cluster.startWorker();
    const late = await conversation.wait(queued.cellId, { yield_time_ms: 30_000 });
    expect(late.state).toBe('completed');
    expect([...textsOf(queued), ...textsOf(late)]).toEqual(['ran']);
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['undefined']);
  });

  it('a worker stopped past its lease and continued: its late writes change nothing, and it ends', async () => {
    await using cluster = await Cluster.start({ env: { WORKER_SLOTS: '1' } });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const cell = await conversation.exec(
      `// @exec: {"yield_time_ms": 0}\nawait new Promise(r => setTimeout(r, 2000)); store('k', 'late'); text('late')`,
    );
    await untilRunning(cluster, cell.cellId);
    const worker = cluster.worker();
    worker.signal('SIGSTOP');
    const lost = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
    expect(lost).toMatchObject({ state: 'failed', error: { code: 'worker_lost' } });
    worker.signal('SIGCONT');
    expect(await worker.exited).toBe(1);
    await cluster.startWorker();
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['undefined']);
    const { cells } = await tenant.ok<{ cells: { cellId: string; state: string }[] }>(
      'GET',
      `${conversation.path}/cells`,
    );
    expect(cells.find((one) => one.cellId === cell.cellId)?.state).toBe('failed');
  });

  it('a killed API process: the cell goes on, its output stays, and the place is free within 5 s', async () => {
    await using cluster = await Cluster.start({ apis: 2 });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const cut = conversation
      .exec("text('kept'); await new Promise(r => setTimeout(r, 3000)); text('too')")
      .catch(() => 'cut');
    const cellId = await eventually(async () => {
      const { cells } = await tenant
        .at(cluster.api(1))
        .ok<{ cells: { cellId: string; state: string }[] }>('GET', `${conversation.path}/cells`);
      return cells.find((cell) => cell.state === 'running')?.cellId;
    });
    cluster.api().signal('SIGKILL');
    expect(await cut).toBe('cut');
    const other = conversation.through(tenant.at(cluster.api(1)));
    const result = await eventually(() => other.wait(cellId), { withinMs: 6_000 });
    expect(result.state).toBe('completed');
    expect(textsOf(result)).toEqual(['kept', 'too']);
  });

  it('an emptied Redis: a queued cell still runs', async () => {
    await using cluster = await Cluster.start({ workers: 0 });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const queued = await conversation.exec('// @exec: {"yield_time_ms": 0}\ntext(\'ran\')');
    expect(queued.state).toBe('running');
    await cluster.emptyRedis();
    await cluster.startWorker();
    const result = await conversation.wait(queued.cellId, { yield_time_ms: 30_000 });
    expect(textsOf(result)).toEqual(['ran']);
  });

  it('no worker at all: the cell ends as no_worker before its own deadline is over by far', async () => {
    await using cluster = await Cluster.start({ workers: 0 });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const result = await conversation.codemode('// @options: {"timeout_ms": 500}\nreturn 1');
    expect(result).toMatchObject({ state: 'failed', error: { code: 'no_worker' }, effective: { timeout_ms: 500 } });
  });

  it('a deploy (SIGTERM): what ends within the grace time completes, the rest ends as worker_draining', async () => {
    await using cluster = await Cluster.start({ env: { CELLAR_DRAIN_MS: '1500', WORKER_SLOTS: '2' } });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const short = await conversation.exec(
      "// @exec: {\"yield_time_ms\": 0}\nawait new Promise(r => setTimeout(r, 700)); store('k', 1); text('done')",
    );
    const long = await conversation.exec(`// @exec: {"yield_time_ms": 0}\ntext('a'); ${FOR_EVER}`);
    await untilRunning(cluster, short.cellId);
    await untilRunning(cluster, long.cellId);
    const ends = Promise.all([short, long].map((cell) => conversation.wait(cell.cellId, { yield_time_ms: 30_000 })));
    cluster.worker().signal('SIGTERM');
    expect(await cluster.worker().exited).toBe(0);
    const [done, drained] = await ends;
    expect(done).toMatchObject({ state: 'completed' });
    expect(drained).toMatchObject({ state: 'failed', error: { code: 'worker_draining' } });
    await cluster.startWorker();
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['1']);
  });

  it('an API process that ends in order answers whom it is serving', async () => {
    await using cluster = await Cluster.start();
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const observing = conversation.exec(`text('so far'); ${FOR_EVER}`);
    const id = await eventually(async () => {
      const { cells } = await tenant.ok<{ cells: { cellId: string }[] }>('GET', `${conversation.path}/cells`);
      return cells[0]?.cellId;
    });
    await untilRunning(cluster, id);
    cluster.api().signal('SIGTERM');
    expect((await observing).state).toBe('running');
    expect(await cluster.api().exited).toBe(0);
  });
});
