import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

const view = testView([{ name: 'echo' }]);

it.each<[string, string[]]>([
  ['Promise.reject(new Error("lost"))', ['Error: lost']],
  ['(async () => { throw new TypeError("lost") })()', ['TypeError: lost']],
  ['new Promise((_, no) => no({ a: 1 })); return 5', ['{"a":1}']],
  ['Promise.resolve().then(() => { throw "text" }); await 0; await 0', ['text']],
  ['Promise.reject(1); (async () => { throw 2 })()', ['1', '2']],
  ['const p = Promise.reject(1); p.then(() => 2); await 0; await 0', ['1']],
  ['(async () => { await 0; throw 3 })(); await 0; await 0; exit()', ['3']],
  ['setTimeout(() => Promise.reject("timer"), 0); await new Promise((r) => setTimeout(r, 5))', ['timer']],
  ['Promise.reject(new Proxy({}, { get() { text("ran") } }))', ['The script threw a value that cannot be shown.']],
  ['Promise.reject("x".repeat(5000))', ['x'.repeat(1000)]],
  ['Promise.reject("a\\0\\ud800")', ['a\0\ud800']],
  ['tools.echo(5)', ['TypeError: tools.echo: the arguments must be one object, and this is a number']],
  ['tools.echo(); await new Promise((r) => setTimeout(r, 20))', ['Error: no']],
  // Handled, at once or later.
  ['Promise.reject(1).catch(() => {})', []],
  ['const p = Promise.reject(1); await 0; await 0; p.catch(() => {})', []],
  ['const p = Promise.reject(1); try { await p } catch {}', []],
  ['const f = async () => { throw 1 }; try { await f() } catch {}', []],
  ['await Promise.allSettled([Promise.reject(1), (async () => { throw 2 })()])', []],
  ['await Promise.race([1, Promise.reject(2)])', []],
  ['try { await Promise.all([Promise.reject(1), Promise.reject(2)]) } catch {}', []],
  ['await tools.echo().catch(() => {})', []],
  // Never settled.
  ['new Promise(() => {}); (async () => { await new Promise(() => {}) })()', []],
])('%s', async (source, reasons) => {
  const result = await pool.run(source, {
    view,
    onCall: ({ callId }, cell) => cell.settle(callId, { ok: false, message: 'no' }),
  });
  expect(result.state).toBe('completed');
  expect(result.warnings).toEqual(
    reasons.map((reason) => ({ code: 'unhandled_rejection', message: `unhandled promise rejection: ${reason}` })),
  );
  expect(result.texts).not.toContain('ran');
});

it('gives none for calls that the end cancelled, and none for the failure itself', async () => {
  const { warnings, openCalls } = await pool.run('tools.echo(); return 1', { view });
  expect({ warnings, openCalls }).toEqual({ warnings: [], openCalls: [1] });
  expect(await pool.run('Promise.reject(1); throw new Error("own")')).toMatchObject({
    failure: { message: 'Error: own' },
    warnings: [{ message: 'unhandled promise rejection: 1' }],
  });
  expect(await pool.run('await Promise.reject(new Error("own"))')).toMatchObject({ state: 'failed', warnings: [] });
});

it('gives at most 16, and a flood does no harm', async () => {
  const source = 'for (let i = 0; i < 100000; i++) Promise.reject(i); return 1';
  const { state, warnings } = await pool.run(source);
  expect(state).toBe('completed');
  expect(warnings.map(({ message }) => message.split(' ').at(-1))).toEqual(
    Array.from({ length: 16 }, (_, i) => `${i}`),
  );
  const handled = 'for (let i = 0; i < 100000; i++) { try { await (async () => { throw i })() } catch {} } return 1';
  expect(await pool.run(handled)).toMatchObject({ state: 'completed', warnings: [] });
});

it('frees what crosses the boundary', async () => {
  const json = JSON.stringify('x'.repeat(1e6));
  const source = `
    for (let i = 0; i < 400; i++) await tools.echo({});
    for (let i = 0; i < 1e6; i++) 'echo' in tools;
    for (let i = 0; i < 1e5; i++) 'no' in tools;
    return 1`;
  const result = await pool.run(source, {
    view,
    onCall: ({ callId }, cell) => cell.settle(callId, { ok: true, json }),
  });
  expect(result).toMatchObject({ state: 'completed', texts: ['1'] });
});
