import type { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { TestPool, deaf } from '../test/run-script.js';
import type { CellProgram } from './port.js';
import { createSandboxPool } from './pool.js';

const workers: Worker[] = [];
process.on('worker', (worker) => workers.push(worker));

const disposables: AsyncDisposable[] = [];
afterEach(async () => {
  for (const disposable of disposables.splice(0)) await disposable[Symbol.asyncDispose]();
  const left = workers.splice(0).filter(({ threadId }) => threadId !== -1);
  if (left.length > 0) throw new Error(`${left.length} threads are left open`);
});

async function pool(slots: number): Promise<TestPool> {
  const created = await TestPool.create(slots, false);
  disposables.push(created);
  return created;
}

const program = (source: string): CellProgram => ({
  cellId: 'c_0000000000000000',
  tenantId: 't_1',
  dialect: 'exec',
  source,
  values: new Map(),
  limits: { cpuMs: 5000, stretchCpuMs: 5000, wallInMs: 10_000 },
});

it('refuses a pool without slots', async () => {
  await expect(createSandboxPool({ slots: 0 })).rejects.toThrow('slots is 0');
});

it('serves callers in the order of asking', async () => {
  const { runner } = await pool(1);
  const held = await runner.acquire();
  const order: number[] = [];
  const served = [1, 2, 3].map(async (n) => {
    using slot = await runner.acquire();
    order.push(n);
    await slot.start(program('return 1'), deaf).outcome;
  });
  expect(runner.stats()).toMatchObject({ threads: 1, idle: 0, waiting: 3 });
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  await Promise.all(served);
  expect(order).toEqual([1, 2, 3]);
  expect(runner.stats()).toEqual({
    threads: 1,
    idle: 1,
    busy: 0,
    retiring: 0,
    respawning: 0,
    waiting: 0,
    hibernated: 0,
    hibernatedBytes: 0,
  });
});

it('forgets callers who gave up', async () => {
  const { runner } = await pool(1);
  using _held = await runner.acquire();
  const abort = new AbortController();
  const waiting = runner.acquire(abort.signal);
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(runner.acquire(abort.signal)).rejects.toThrow('enough');
  expect(runner.stats().waiting).toBe(0);
});

it('runs one script per slot', async () => {
  const { runner } = await pool(1);
  const slot = await runner.acquire();
  const cell = slot.start(program('return 1'), deaf);
  expect(() => slot.start(program('return 1'), deaf)).toThrow('acquire another one');
  expect(runner.stats().busy).toBe(1);
  expect((await cell.outcome).state).toBe('completed');
});

it('runs scripts side by side, and replaces a thread that was killed', async () => {
  const both = await pool(2);
  const hung = both.run('const a = []; a.length = 4294967295; a.sort()', { limits: { stretchCpuMs: 50 } });
  for (let i = 0; i < 20; i += 1) expect((await both.run(`return ${i}`)).texts).toEqual([String(i)]);
  expect((await hung).failure?.code).toBe('cpu_limit');
  expect(both.retired).toHaveLength(1);
  const first = await both.runner.acquire();
  const second = await both.runner.acquire();
  expect(both.runner.stats()).toMatchObject({ threads: 2, idle: 0, respawning: 0 });
  first[Symbol.dispose]();
  second[Symbol.dispose]();
});

it('keeps tenants apart', async () => {
  const { run } = await pool(1).then((made) => ({ run: made.run.bind(made) }));
  for (let i = 0; i < 24; i += 1) {
    const tenantId = `t_${i % 12}`;
    const result = await run('const was = typeof leak; globalThis.leak = 1; return was', { tenantId });
    expect(result.texts).toEqual(['undefined']);
  }
});

it('survives a listener that throws', async () => {
  const made = await pool(1);
  const result = await made.run('text(1); yield_control(); text(2)', {
    onOutput: () => {
      throw new Error('a fault of the listener');
    },
  });
  expect(result.texts).toEqual(['1', '2']);
  expect(made.faults).toHaveLength(2);
});

it('ends what runs and what waits when it is disposed of', async () => {
  const made = await pool(1);
  const running = made.run('for (;;) {}');
  const waiting = made.runner.acquire();
  const rejection = waiting.catch((error: unknown) => String(error));
  await made[Symbol.asyncDispose]();
  expect(await rejection).toContain('closed');
  expect((await running).failure?.code).toBe('internal');
  await expect(made.runner.acquire()).rejects.toThrow('closed');
  expect(made.runner.stats()).toMatchObject({ threads: 0, idle: 0 });
  expect(made.retired).toEqual([]);
});

it('gives the memory of large scripts back', async () => {
  const made = await pool(1);
  const rssMiB = (): number => process.memoryUsage.rss() / 1024 / 1024;
  await made.run('return 1');
  const before = rssMiB();
  for (let i = 0; i < 3; i += 1) {
    await made.run('const a = []; try { for (;;) a.push(new Uint8Array(1e7).fill(1)) } catch {}');
    expect(rssMiB() - before).toBeLessThan(600);
  }
  // The system gets it back in the background: while other scripts run.
  for (let i = 0; i < 1000 && rssMiB() - before > 100; i += 1) await made.run('return 1');
  expect(rssMiB() - before).toBeLessThan(100);
});
