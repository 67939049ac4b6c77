import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

describe('output', () => {
  it.each<[string, string[]]>([
    ['text("hi")', ['hi']],
    ['text("")', ['']],
    ['text({json:true, no: undefined})', ['{"json":true}']],
    [
      'text(undefined);text(null);text(7);text(-0);text(10n);text(NaN);text(true)',
      ['undefined', 'null', '7', '0', '10', 'NaN', 'true'],
    ],
    ['text();text(() => 1);text(Symbol("s"));text({toJSON(){}})', ['undefined', 'undefined', 'undefined', 'undefined']],
    ['class A { toJSON() { return [1] } } text(new A()); text({toJSON: () => "own"})', ['[1]', '"own"']],
    ['return {a:1,b:[true,"x"]}', ['{"a":1,"b":[true,"x"]}']],
    ['return undefined', []],
    ['text(text("a"))', ['a', 'undefined']],
    ['text(await Promise.resolve(42)); return "end"', ['42', 'end']],
    ['const text = 1; const f = (store) => store; return f(text)', ['1']],
    [
      'text = 5; globalThis.text = 6; delete globalThis.text; (() => { "use strict"; text = 7 })(); text("still")',
      ['still'],
    ],
    ['text("\\ufeffa\\0b\\ud800c😀é"); text("\\0"); text("x\\0")', ['\ufeffa\0b\ud800c😀é', '\0', 'x\0']],
    ['text("a\0b\ud800".length)', ['4']],
    [
      'return await (async () => { try { return (await import("x")).default } catch { return "no import" } })()',
      ['no import'],
    ],
    ['undeclared = 3; return undeclared', ['3']],
    ['// only a comment', []],
    ['return 1 // a comment at the end', ['1']],
  ])('%j', async (source, texts) => {
    expect(await pool.run(source)).toMatchObject({ state: 'completed', texts, writes: [], warnings: [] });
  });

  it('keeps the order of text and console', async () => {
    const order: string[] = [];
    const source = 'console.log("a",1,{b:2}); text("first"); console.error("bad"); console.log()';
    const result = await pool.run(source, {
      onOutput: (item) => order.push(`${item.kind} ${'text' in item ? item.text : ''}`),
    });
    expect(result.state).toBe('completed');
    expect(order).toEqual(['console a 1 {"b":2}', 'text first', 'console bad', 'console ']);
  });

  it('carries a megabyte', async () => {
    const { texts } = await pool.run('text("x".repeat(1e6)); text("é".repeat(5e5))');
    expect(texts).toEqual(['x'.repeat(1e6), 'é'.repeat(5e5)]);
  });

  it.each([
    ['text("x".repeat(16777217))', 0],
    ['text("x".repeat(16777216)); console.log("y")', 1],
    ['for (;;) text("")', 100_000],
  ])('limits it: %j', async (source, items) => {
    const result = await pool.run(source);
    expect(result.failure).toMatchObject({ code: 'output_limit' });
    expect(result.failure?.message).toMatch(/^RangeError: output limit: .*(100000|16777216)/);
    expect(result.texts.length).toBe(items);
  });

  it('lets a script catch the limit', async () => {
    const source = 'try { text("x".repeat(3e7)) } catch (e) { text(e instanceof RangeError) }';
    expect(await pool.run(source)).toMatchObject({ state: 'completed', texts: ['true'] });
  });
});

describe('errors', () => {
  it.each<[string, string, string, string | undefined]>([
    ['throw new Error("boom")', 'script_error', 'Error: boom', '    at <anonymous> (script.js:1:16)'],
    [
      '\nconst a = 1;\nthrow new TypeError("third")',
      'script_error',
      'TypeError: third',
      '    at <anonymous> (script.js:3:20)',
    ],
    [
      'class E extends Error { constructor(m) { super(m); this.name = "MyError" } }\nthrow new E("q")',
      'script_error',
      'MyError: q',
      '    at E (script.js:1:47)\n    at <anonymous> (script.js:2:12)',
    ],
    [
      'class E extends RangeError {}; const e = new E("q"); delete e.stack; throw e',
      'script_error',
      'RangeError: q',
      undefined,
    ],
    [
      'const e = new Error("m"); e.message = "changed"; e.stack = "    at secret (cellar:1:1)\\n    at me (script.js:9:1)"; throw e',
      'script_error',
      'Error: changed',
      '    at me (script.js:1)',
    ],
    [
      'const e = new Error(); Object.defineProperty(e, "message", { get() { text("ran") } }); delete e.stack; throw e',
      'script_error',
      'Error',
      undefined,
    ],
    ['throw { code: 7 }', 'script_error', '{"code":7}', undefined],
    [
      'throw { toJSON() { text("ran") }, get a() { text("ran") }, b: [1, undefined, "x"], d: new Date(0) }',
      'script_error',
      '{"b":[1,null,"x"],"d":"1970-01-01T00:00:00.000Z"}',
      undefined,
    ],
    [
      'throw new Proxy({}, { get() { text("ran") }, ownKeys() { text("ran"); return [] } })',
      'script_error',
      'The script threw a value that cannot be shown.',
      undefined,
    ],
    ['const o = {}; o.o = o; throw o', 'script_error', 'The script threw a value that cannot be shown.', undefined],
    ['throw () => 1', 'script_error', 'The script threw a value that cannot be shown.', undefined],
    ['throw 5n', 'script_error', '5', undefined],
    ['throw null', 'script_error', 'null', undefined],
    ['throw undefined', 'script_error', 'undefined', undefined],
    ['throw Symbol("s")', 'script_error', 'Symbol(s)', undefined],
    ['throw "a\\0\\ud800"', 'script_error', 'a\0\ud800', undefined],
    ['await Promise.reject(new Error("late"))', 'script_error', 'Error: late', '    at <anonymous> (script.js:1:31)'],
    ['text({ toJSON() { throw new Error("mine") } })', 'script_error', 'Error: mine', undefined],
    [
      'throw { code: "out_of_memory", exhausted: true, name: "InternalError", message: "out of memory" }',
      'script_error',
      '{"code":"out_of_memory","exhausted":true,"name":"InternalError","message":"out of memory"}',
      undefined,
    ],
    ['throw new InternalError("out of memory")', 'script_error', 'InternalError: out of memory', undefined],
    ['const = 1', 'syntax_error', 'SyntaxError: variable name expected', '    at script.js:1:7'],
    ['let a = 1;\nlet b = ;', 'syntax_error', "SyntaxError: unexpected token in expression: ';'", undefined],
    [
      'if (x) {\n',
      'syntax_error',
      'SyntaxError: the script ends too early, or its brackets do not match',
      '    at script.js:2',
    ],
    ['import fs from "fs"', 'syntax_error', 'SyntaxError', undefined],
  ])('%j', async (source, code, message, frames) => {
    const result = await pool.run(source);
    expect(result).toMatchObject({ state: 'failed', failure: { code } });
    expect(result.failure?.message.startsWith(message)).toBe(true);
    if (code === 'script_error') expect(result.failure?.message).toBe(message);
    if (frames !== undefined) expect(result.failure?.frames).toBe(frames);
    expect(result.texts).toEqual([]);
  });

  it('names the circle in a value that text cannot show', async () => {
    expect((await pool.run('const a={};a.a=a;text(a)')).failure?.message).toBe('TypeError: circular reference');
  });

  it.each(['}); text("out"); (async()=>{', '}); globalThis.a = 1; (()=>{', '}, async()=>{'])(
    'lets no source leave its function: %j',
    async (source) => {
      const result = await pool.run(source);
      expect(result).toMatchObject({ state: 'failed', failure: { code: 'syntax_error' }, texts: [] });
    },
  );

  it.each(['```js\ntext(1)\n```', '\n```\nreturn 1\n```'])('says that a script is fenced: %j', async (source) => {
    const { failure } = await pool.run(source);
    expect(failure).toMatchObject({ code: 'syntax_error' });
    expect(failure?.message).toContain('Markdown code fence');
  });

  it('cuts a message at 16 KiB', async () => {
    const { failure } = await pool.run('throw new Error("é".repeat(1e6))');
    const size = Buffer.byteLength(`${failure?.message}${failure?.frames}`);
    expect(size).toBeLessThanOrEqual(16_384);
    expect(size).toBeGreaterThan(16_000);
  });
});

describe('exit', () => {
  it.each([
    'text("a"); try { exit() } catch { text("c") } finally { text("f") } text("after")',
    'text("a"); [1, 2].map(() => exit()); text("after")',
    'text("a"); (async () => { await 0; exit() })(); await new Promise((r) => setTimeout(r, 50)); text("after")',
    'text("a"); setTimeout(() => exit(), 1); await new Promise((r) => setTimeout(r, 5000)); text("after")',
    'text("a"); await new Promise(() => exit()); text("after")',
    'text("a"); new Promise(() => exit()); text("after"); return 5',
    'text("a"); try { await (async () => { exit() })() } finally { text("f") }',
    'text("a"); for (const x of (function* () { try { yield 1 } finally { text("f") } })()) exit()',
    'text("a"); text({ toJSON() { exit() } })',
  ])('%j', async (source) => {
    expect(await pool.run(source)).toMatchObject({ state: 'completed', texts: ['a'] });
  });

  it('keeps values from before', async () => {
    const { writes } = await pool.run('store("k", 1); try { exit() } finally { store("k", 2) }');
    expect(writes).toEqual([{ key: 'k', json: '1' }]);
  });
});

describe('waiting', () => {
  it('fails a script that can never go on, with its values', async () => {
    const result = await pool.run('store("k", 1); await new Promise(() => {})');
    expect(result).toMatchObject({ state: 'failed', failure: { code: 'stalled' }, writes: [{ key: 'k', json: '1' }] });
  });

  it('runs timers in the order in which they are due, in one sequence with promises', async () => {
    const source = `
      const order = [];
      const ids = [setTimeout(() => order.push('c'), 30), setTimeout(() => { order.push('a'); Promise.resolve().then(() => order.push('a2')) }, 0),
        setTimeout(() => order.push('b'), -5), setTimeout(() => order.push('never'), 10)];
      clearTimeout(ids[3]); clearTimeout(99); clearTimeout({});
      await new Promise((r) => setTimeout(r, 40));
      text(ids.join()); return order.join()`;
    expect((await pool.run(source)).texts).toEqual(['1,2,3,4', 'a,a2,b,c']);
  });

  it('keeps what a script waits for', async () => {
    const { texts } = await pool.run(
      'const t = Date.now(); await new Promise((r) => setTimeout(r, 30)); return Date.now() - t >= 30',
    );
    expect(texts).toEqual(['true']);
  });

  it.each<[string, string]>([
    ['setTimeout("x", 1)', 'TypeError: setTimeout: the callback must be a function, and it is a string'],
    [
      'for (let i = 0; i < 1001; i++) setTimeout(() => {}, 1e6)',
      'RangeError: setTimeout: 1000 timers are pending, and a script may have 1000',
    ],
    [
      'setTimeout(() => { throw new Error("in a callback") }, 0); await new Promise((r) => setTimeout(r, 1000))',
      'Error: in a callback',
    ],
  ])('%j', async (source, message) => {
    expect((await pool.run(source)).failure).toMatchObject({ code: 'script_error', message });
  });

  it('does not run timers after the end', async () => {
    expect(await pool.run('setTimeout(() => text("late"), 0); return 1')).toMatchObject({ texts: ['1'] });
  });

  it('counts no waiting as CPU time', async () => {
    const { cpuMs, elapsedMs } = await pool.run('await new Promise((r) => setTimeout(r, 300))');
    expect(elapsedMs).toBeGreaterThan(299);
    expect(cpuMs).toBeLessThan(elapsedMs - 100);
  });

  it('reports one boundary until it is armed again', async () => {
    const source =
      'text(1); for (let i = 0; i < 1000; i++) yield_control(); await new Promise((r) => setTimeout(r, 50)); text(2); yield_control(); yield_control()';
    const { boundaries } = await pool.run(source, { onBoundary: (_items, cell) => cell.armBoundary() });
    expect(boundaries.at(0)).toBe(1);
    expect(boundaries).toContain(2);
    expect((await pool.run(source)).boundaries).toEqual([1]);
  });
});

describe('random numbers', () => {
  it('differ between cells and lie in [0, 1)', async () => {
    const source = 'return Array.from({ length: 1000 }, () => Math.random())';
    const [first, second] = [await pool.run(source), await pool.run(source)].map(
      ({ texts }) => JSON.parse(texts[0] ?? '[]') as number[],
    );
    expect(first).not.toEqual(second);
    expect(new Set(first).size).toBe(1000);
    expect(first?.every((n) => n >= 0 && n < 1)).toBe(true);
    const mean = (first ?? []).reduce((sum, n) => sum + n, 0) / 1000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.06);
  });
});
