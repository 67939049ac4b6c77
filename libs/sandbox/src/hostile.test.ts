import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

// Rows of the table of hostile scripts. The pool compares the whole memory with the base image after every script
// whose thread lives on; a difference would retire the thread.
let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
beforeEach(() => {
  pool.retired.length = 0;
});
afterAll(() => pool.close(true));

const BUDGET = { stretchCpuMs: 300, cpuMs: 300 };
const KILL_MS = 1000;

async function expectCleanNext(): Promise<void> {
  const next = await pool.run('return [typeof leak, [3, 1, 2].sort().join()]', { tenantId: 't_other' });
  expect(next).toMatchObject({ state: 'completed', texts: ['["undefined","1,2,3"]'] });
}

describe('scripts that do not end', () => {
  it.each([
    ['a loop', 'for (;;) {}'],
    ['a loop after output', 'globalThis.leak = 1; text("before"); while (true) { leak++ }'],
    ['swallowing in try and finally', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
    [
      'swallowing in promises',
      'const f = async () => { for (;;) {} }; for (;;) { f().catch(() => {}); new Promise(() => { for (;;) {} }) }',
    ],
    ['a nested quantifier', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['a promise that reschedules itself', 'const again = () => Promise.resolve().then(again); await again()'],
    ['an async loop', 'for (;;) await 0'],
    ['growing numbers', 'let x = 3n; for (;;) x = x * x'],
    ['printing a large number', 'String(7n ** 400000n)'],
    ['a generator', 'function* g() { for (;;) yield 1 } for (const x of g());'],
    ['timers without a pause', 'const again = () => setTimeout(again, 0); again(); await new Promise(() => {})'],
  ])('%s', async (_name, source) => {
    const result = await pool.run(source, { limits: BUDGET });
    expect(result.state).toBe('failed');
    expect(['cpu_limit', 'out_of_memory', 'script_error']).toContain(result.failure?.code);
    expect(result.cpuMs).toBeLessThan(BUDGET.cpuMs + KILL_MS);
    await expectCleanNext();
  });

  it.each([
    ['sort', 'text("before"); const a = []; a.length = 4294967295; a.sort()'],
    ['indexOf', 'text("before"); const b = []; b.length = 4294967295; b.indexOf(1)'],
    ['join', 'text("before"); Array.prototype.join.call({ length: 2 ** 53 - 1 }, "")'],
    ['includes', 'text("before"); Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)'],
    ['an array as text', 'text("before"); (new Array(1e9) + "").length'],
    ['an almost-match', 'text("before"); const t = "a".repeat(5e6); t.indexOf("a".repeat(2.5e6) + "b")'],
    ['swallowing it', 'text("before"); for (;;) { try { const a = []; a.length = 4294967295; a.sort() } catch {} }'],
  ])('built-ins that ignore interrupts: %s', async (_name, source) => {
    const result = await pool.run(source, { limits: BUDGET });
    expect(result).toMatchObject({ state: 'failed', failure: { code: 'cpu_limit' }, texts: ['before'] });
    expect(result.elapsedMs).toBeLessThan(BUDGET.cpuMs + KILL_MS);
    await expectCleanNext();
  });

  it('keeps all that was written before a kill', async () => {
    const source = 'for (let i = 0; i < 1000; i++) text(i + "\\0é"); const a = []; a.length = 4294967295; a.sort()';
    const result = await pool.run(source, { limits: BUDGET });
    expect(result.failure?.code).toBe('cpu_limit');
    expect(result.texts).toEqual(Array.from({ length: 1000 }, (_, i) => `${i}\0é`));
  });

  it('is killed after exit() too, and keeps its end', async () => {
    const source =
      'store("k", 1); text({ toJSON() { new Promise(() => exit()); const a = []; a.length = 4294967295; a.sort() } })';
    const result = await pool.run(source, { limits: BUDGET });
    expect(result).toMatchObject({ state: 'completed', writes: [{ key: 'k', json: '1' }] });
    await expectCleanNext();
  });
});

describe('scripts that use up memory', () => {
  const roomy = { stretchCpuMs: 20_000, cpuMs: 20_000 };

  it.each([
    ['small objects', 'const a = []; for (;;) a.push({})'],
    ['large arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e7))'],
    [
      'in a callback',
      'const a = []; setTimeout(() => { for (;;) a.push(new Uint8Array(1e7)) }, 0); await new Promise(() => {})',
    ],
  ])('uncaught: %s', async (_name, source) => {
    const result = await pool.run(source, { limits: roomy });
    expect(result).toMatchObject({ state: 'failed', failure: { code: 'out_of_memory' } });
    expect(result.failure?.message).toContain('out of memory');
    expect(pool.retired).toEqual([]);
    await expectCleanNext();
  });

  it('caught', async () => {
    const source =
      'const a = []; try { for (;;) a.push(new Uint8Array(1e7)) } catch (e) { a.length = 0; text(e.name) } return 1';
    expect(await pool.run(source)).toMatchObject({ state: 'completed', texts: ['InternalError', '1'] });
    await expectCleanNext();
  });

  it('caught, for ever', async () => {
    const source = 'const a = []; for (;;) { try { for (;;) a.push(new Uint8Array(1e6)) } catch {} }';
    const result = await pool.run(source, { limits: { stretchCpuMs: 1000 } });
    expect(['out_of_memory', 'cpu_limit']).toContain(result.failure?.code);
    await expectCleanNext();
  });

  it.each([
    ['doubling', 'let s = "ab"; for (;;) s += s'],
    ['repeat', '"x".repeat(2 ** 30)'],
    ['padEnd', '"x".padEnd(2 ** 31)'],
    ['replaceAll', 'let s = "x"; for (;;) s = s.replaceAll("x", "xxxxxxxx")'],
  ])('growing text by %s', async (_name, source) => {
    const result = await pool.run(source, { limits: roomy });
    expect(result.state).toBe('failed');
    expect(['script_error', 'out_of_memory']).toContain(result.failure?.code);
    expect(pool.retired).toEqual([]);
    await expectCleanNext();
  });

  it('200,000 objects made in a callback are no fault', async () => {
    const source =
      'await Promise.resolve().then(() => { globalThis.leak = Array.from({ length: 200000 }, (_, i) => ({ i })) }); return leak.length';
    expect(await pool.run(source)).toMatchObject({ state: 'completed', texts: ['200000'] });
    expect(pool.retired).toEqual([]);
    await expectCleanNext();
  });
});

describe('scripts that nest deeply', () => {
  it.each([
    ['function', 'function f() { f() } f()'],
    ['getter', 'const o = { get a() { return this.a } }; o.a'],
    ['toString', 'const o = { toString() { return String(this) } }; String(o)'],
    ['Proxy', 'let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x'],
    ['bind', 'let f = function () {}; for (let i = 0; i < 4000; i++) f = f.bind(null); f()'],
    ['generator', 'function* g() { yield* g() } [...g()]'],
    ['JSON.parse', 'JSON.parse("[".repeat(200000))'],
    ['JSON.stringify', 'let o = {}; for (let i = 0; i < 200000; i++) o = { o }; JSON.stringify(o)'],
    ['regular expression', 'new RegExp("(".repeat(50000) + ")".repeat(50000))'],
    ['eval', '(0, eval)("[".repeat(50000))'],
    ['flat', 'let a = []; for (let i = 0; i < 100000; i++) a = [a]; a.flat(Infinity)'],
  ])('can catch it: %s', async (_name, source) => {
    const caught = await pool.run(`try { ${source} } catch (e) { text(e instanceof Error); throw e }`);
    expect(caught).toMatchObject({ texts: ['true'], failure: { code: 'script_error' } });
    expect(pool.retired).toEqual([]);
    await expectCleanNext();
  });

  it.each([
    ['brackets', '['.repeat(50_000)],
    ['closed brackets', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['groups', `/${'('.repeat(50_000)}${')'.repeat(50_000)}/`],
    ['functions', '(()=>'.repeat(20_000)],
    ['templates', '`${'.repeat(20_000)],
  ])('source: %s', async (_name, source) => {
    const result = await pool.run(source);
    expect(result).toMatchObject({ state: 'failed', failure: { code: 'syntax_error' } });
    expect(result.failure?.message).toMatch(/^SyntaxError: /);
    expect(pool.retired).toEqual([]);
    await expectCleanNext();
  });

  it('throws deep values', async () => {
    const result = await pool.run('let o = {}; for (let i = 0; i < 200000; i++) o = { o }; throw o');
    expect(result.failure).toMatchObject({
      code: 'script_error',
      message: 'The script threw a value that cannot be shown.',
    });
  });
});

describe('large arguments', () => {
  it.each(['text', 'console.log'])('%s of 30 MB', async (helper) => {
    const result = await pool.run(`${helper}("x".repeat(3e7))`);
    expect(result).toMatchObject({ failure: { code: 'output_limit' }, texts: [], lines: [] });
  });
});

describe('stopping from outside', () => {
  it.each([
    ['running', 'for (;;) {}'],
    ['waiting', 'await new Promise((r) => setTimeout(r, 60000))'],
    ['flooding', 'for (let i = 0; i < 16384; i++) text(i); for (;;) {}'],
    ['inside a built-in', 'const a = []; a.length = 4294967295; a.sort()'],
  ])('a script that is %s', async (name, source) => {
    const result = await pool.run(`store("k", 1); text("before"); ${source}`, {
      onOutput: (_item, cell) => cell.stop('terminated'),
    });
    expect(result).toMatchObject({ state: 'terminated', writes: [] });
    expect(result.failure).toBeUndefined();
    expect(result.elapsedMs).toBeLessThan(KILL_MS);
    expect(result.texts[0]).toBe('before');
    expect(pool.retired).toHaveLength(name === 'inside a built-in' ? 1 : 0);
    await expectCleanNext();
  });

  it('before it has run', async () => {
    const result = await pool.run('await new Promise((r) => setTimeout(r, 60000))', {
      onStart: (cell) => {
        cell.stop('worker_draining');
        cell.stop('terminated');
      },
    });
    expect(result).toMatchObject({ state: 'failed', failure: { code: 'worker_draining' } });
  });

  it.each([
    ['deadline', { deadlineInMs: 100 }, 'await new Promise((r) => setTimeout(r, 60000))'],
    ['deadline', { deadlineInMs: 100 }, 'for (;;) {}'],
    ['deadline', { deadlineInMs: 100 }, 'const a = []; a.length = 4294967295; a.sort()'],
    ['wall_limit', { wallInMs: 100 }, 'await new Promise((r) => setTimeout(r, 60000))'],
    ['wall_limit', { wallInMs: 100, deadlineInMs: 200 }, 'for (;;) {}'],
  ])('%s %j %s', async (code, limits, source) => {
    const result = await pool.run(`store("k", 1); ${source}`, { limits });
    expect(result).toMatchObject({ state: 'failed', failure: { code }, writes: [] });
    expect(result.failure?.message).toContain('100 ms');
    expect(result.elapsedMs).toBeLessThan(100 + KILL_MS);
  });
});
