import { afterEach, expect, it } from 'vitest';
import { TestPool, type RunOptions, type RunResult } from '../test/run-script.js';
import type { ProgramCall, RunningCell } from './port.js';
import { testView } from '../test/test-view.js';

const view = testView([{ name: 'ask' }]);

let pool: TestPool;
afterEach(() => pool.close());

/** A script on the pool whose calls are answered by hand. */
class Script {
  readonly calls: ProgramCall[] = [];
  readonly result: Promise<RunResult>;
  private cell: RunningCell | undefined;
  private readonly told: (() => void)[] = [];
  private waited = 0;

  constructor(source: string, options: RunOptions = {}) {
    this.result = pool.run(source, {
      view,
      ...options,
      onStart: (cell) => (this.cell = cell),
      onCall: (call) => this.calls.push(call),
      onWaiting: () => {
        this.waited += 1;
        for (const tell of this.told.splice(0)) tell();
      },
    });
  }

  /** Resolves when the script has waited that many times. */
  async waits(times = 1): Promise<this> {
    while (this.waited < times) await new Promise<void>((resolve) => this.told.push(resolve));
    return this;
  }

  answer(callId: number, value: unknown = null): void {
    this.running.settle(callId, { ok: true, json: JSON.stringify(value) });
  }

  get running(): RunningCell {
    if (this.cell === undefined) throw new Error('the script has no thread yet');
    return this.cell;
  }
}

/** Resolves when that many scripts sleep. */
const asleep = (count: number): Promise<void> =>
  expect.poll(() => pool.runner.stats().hibernated, { timeout: 20_000 }).toBe(count);

/** Resolves when another script has had the only thread, so that whoever waits sleeps. */
const sendToSleep = async (): Promise<unknown> => pool.run('return 1');

it('lets others run while scripts wait, and goes on in any order', async () => {
  pool = await TestPool.create(1);
  const waiting: Script[] = [];
  for (let i = 0; i < 20; i += 1) {
    const source = `let own = ${i}; const got = await tools.ask({ i: ${i} }); return [own, got, i2()]; function i2() { return own * 2 }`;
    waiting.push(await new Script(source, { tenantId: `t_${i % 3}` }).waits());
  }
  expect((await pool.run('return 1')).texts).toEqual(['1']);
  await asleep(20);
  for (const script of waiting.toReversed()) script.answer(1, 'answer');
  const results = await Promise.all(waiting.map(({ result }) => result));
  expect(results.map(({ texts }) => texts[0])).toEqual(waiting.map((_, i) => JSON.stringify([i, 'answer', 2 * i])));
  expect(pool.runner.stats()).toMatchObject({ idle: 1, hibernated: 0, hibernatedBytes: 0 });
});

it('gives the thread away when nobody asks for it, too', async () => {
  pool = await TestPool.create(1);
  const script = await new Script('return await tools.ask()').waits();
  await asleep(1);
  const { idle, hibernatedBytes } = pool.runner.stats();
  expect(idle).toBe(1);
  expect(hibernatedBytes).toBeLessThan(64 * 1024);
  script.answer(1, 'late');
  expect((await script.result).texts).toEqual(['late']);
});

it('keeps all kinds of state', async () => {
  pool = await TestPool.create(1);
  const script = await new Script(`
    class Counter { #n = 40; add() { return ++this.#n } }
    const counter = new Counter(); counter.add();
    function* numbers() { yield 1; yield 2; yield 3 }
    const it = numbers(); it.next();
    const kept = { x: 1 }; const weak = new WeakRef(kept); const map = new WeakMap([[kept, 'found']]);
    const pattern = /b+/g; pattern.exec('abbb'); const big = 2n ** 200n; const symbol = Symbol('s');
    const bytes = new Uint8Array(100_000).fill(7); const random = Math.random();
    const proxy = new Proxy({}, { get: (_, k) => 'p' + String(k) });
    let error; try { null.x } catch (e) { error = e }
    let caught; try { await tools.ask() } catch (e) { caught = e.message } finally { text('finally') }
    return [counter.add(), it.next().value, weak.deref().x, map.get(kept), pattern.lastIndex, String(big % 1000007n),
      { [symbol]: 1 }[symbol], bytes[99_999], random === Math.random(), proxy.q, error instanceof TypeError, caught];
  `).waits();
  await asleep(1);
  script.running.settle(1, { ok: false, message: 'no' });
  const { texts } = await script.result;
  expect(texts).toEqual([
    'finally',
    '[42,2,1,"found",4,"471899",1,7,false,"pq",true,"no"]'.replace('471899', String(2n ** 200n % 1000007n)),
  ]);
});

it('runs the timers of sleeping scripts, in order', async () => {
  pool = await TestPool.create(1);
  const script = new Script(`
    const order = []; const after = (ms) => new Promise((r) => setTimeout(() => { order.push(ms); r() }, ms));
    await Promise.all([after(300), after(200), after(250)]); return order`);
  await script.waits();
  await sendToSleep();
  expect((await script.result).texts).toEqual(['[200,250,300]']);
});

it('goes on with what came while the script left its thread', async () => {
  pool = await TestPool.create(1);
  const script = await new Script('return await tools.ask()').waits();
  const other = pool.run('return 2');
  script.answer(1, 'at once');
  expect((await script.result).texts).toEqual(['at once']);
  expect((await other).texts).toEqual(['2']);
});

it('ends sleeping scripts at once: stopped, or late', async () => {
  pool = await TestPool.create(1);
  const stopped = await new Script("text('a'); await tools.ask()").waits();
  const late = await new Script('await tools.ask()', { limits: { deadlineInMs: 500 } }).waits();
  await sendToSleep();
  stopped.running.stop('terminated');
  expect(await stopped.result).toMatchObject({ state: 'terminated', texts: ['a'], openCalls: [1] });
  expect(await late.result).toMatchObject({ state: 'failed', failure: { code: 'deadline' } });
  late.answer(1);
  expect(pool.runner.stats()).toMatchObject({ idle: 1, hibernated: 0, hibernatedBytes: 0 });
});

it('takes large heaps away and back', async () => {
  pool = await TestPool.create(1);
  const script = await new Script(
    'const big = new Uint8Array(40e6).fill(9); await tools.ask(); return big[39_999_999] + big.length',
  ).waits();
  expect((await pool.run('return 1')).texts).toEqual(['1']);
  expect(pool.runner.stats().hibernatedBytes).toBeGreaterThan(40e6);
  script.answer(1);
  expect((await script.result).texts).toEqual(['40000009']);
});

it('counts CPU time, calls, output and notes over all stretches', async () => {
  pool = await TestPool.create(1);
  const burn = '{ const until = Date.now() + 150; while (Date.now() < until) Math.sqrt(2) }';
  const hot = await new Script(`${burn} await tools.ask(); ${burn}`, { limits: { cpuMs: 250 } }).waits();
  await asleep(1);
  hot.answer(1);
  expect(await hot.result).toMatchObject({ state: 'failed', failure: { code: 'cpu_limit' } });

  const full = await new Script(`
    text('x'.repeat(16_777_000)); for (let i = 0; i < 999; i++) notify('n');
    await tools.ask();
    try { text('y'.repeat(1_000)) } catch (e) { text(e.name) }
    notify('last'); try { notify('one more') } catch (e) { text(e.name) }
    tools.ask(); tools.ask(); await tools.ask()`).waits();
  await asleep(1);
  full.answer(1);
  await full.waits(2);
  await asleep(1);
  expect(full.calls.map(({ callId }) => callId)).toEqual([1, 2, 3, 4]);
  full.answer(4);
  const { texts, notes, openCalls } = await full.result;
  expect(texts.slice(1)).toEqual(['RangeError', 'RangeError']);
  expect(notes).toHaveLength(1_000);
  expect(openCalls).toEqual([2, 3]);
});

it('tells one boundary until it is armed again, over sleep', async () => {
  pool = await TestPool.create(1);
  const script = await new Script(`
    yield_control(); yield_control(); await tools.ask();
    yield_control(); await tools.ask(); text('a'); yield_control()`).waits();
  await asleep(1);
  script.answer(1);
  await script.waits(2);
  await asleep(1);
  script.running.armBoundary();
  script.answer(2);
  expect((await script.result).boundaries).toEqual([0, 1]);
});

it('keeps waiting scripts on their threads when sleeping ones hold all the memory they may', async () => {
  pool = await TestPool.create(2, true, { hibernatedBytes: 1 });
  const asleepOne = await new Script('return await tools.ask()').waits();
  await asleep(1);
  const awake = await new Script('return await tools.ask()').waits();
  expect((await pool.run('return 1')).texts).toEqual(['1']);
  expect(pool.runner.stats()).toMatchObject({ busy: 1, hibernated: 1 });
  awake.answer(1, 1);
  asleepOne.answer(1, 2);
  expect((await awake.result).texts).toEqual(['1']);
  expect((await asleepOne.result).texts).toEqual(['2']);
});

it('gives threads to newcomers and to scripts that go on in turn', async () => {
  pool = await TestPool.create(1);
  const done: string[] = [];
  const waiting = await Promise.all(Array.from({ length: 6 }, () => new Script('await tools.ask(); return 1').waits()));
  await asleep(6);
  const held = await pool.runner.acquire();
  const ends = waiting.map(async (script) => {
    script.answer(1);
    await script.result;
    done.push('old');
  });
  const newcomers = [1, 2].map(async () => {
    await pool.run('return 1');
    done.push('new');
  });
  held[Symbol.dispose]();
  await Promise.all([...ends, ...newcomers]);
  expect(done.slice(0, 4).toSorted()).toEqual(['new', 'new', 'old', 'old']);
});

it('ends sleeping scripts when the pool closes', async () => {
  pool = await TestPool.create(1);
  const script = await new Script('await tools.ask()').waits();
  await asleep(1);
  await pool.runner[Symbol.asyncDispose]();
  expect(await script.result).toMatchObject({ state: 'terminated' });
});
