import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

const LANGUAGE =
  'AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError ' +
  'FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array ' +
  'InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set ' +
  'String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef ' +
  'WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat ' +
  'parseInt undefined unescape';

it.each([
  ['exec', 'ALL_TOOLS audio clearTimeout console exit image load notify setTimeout store text tools yield_control'],
  ['codemode', 'ALL_TOOLS audio console exit image load store text tools'],
] as const)('%s has exactly these globals', async (dialect, helpers) => {
  const { texts } = await pool.run('return Reflect.ownKeys(globalThis).filter((k) => typeof k === "string").sort()', {
    dialect,
  });
  expect(JSON.parse(texts[0] ?? '')).toEqual([...LANGUAGE.split(' '), ...helpers.split(' ')].sort());
});

it('has nothing ambient', async () => {
  const names =
    'process require module Buffer fetch XMLHttpRequest WebSocket WebAssembly SharedArrayBuffer Atomics setInterval ' +
    'queueMicrotask std os Deno Bun Worker performance send receive limits models searchTools';
  const { texts } = await pool.run(
    `return ${JSON.stringify(names.split(' '))}.map((n) => typeof globalThis[n]).join()`,
  );
  expect(texts[0]).toBe(names.replaceAll(/\w+/g, 'undefined').replaceAll(' ', ','));
});

it('is always in UTC', async () => {
  const source =
    'return [new Date(2026, 6, 1, 12).toISOString(), new Date(0).getTimezoneOffset(), new Date("2026-07-01T12:00").getTime()]';
  expect((await pool.run(source)).texts).toEqual([`["2026-07-01T12:00:00.000Z",0,${Date.UTC(2026, 6, 1, 12)}]`]);
});

it('has frozen built-ins that instances may still override', async () => {
  const source = `
    Object.prototype.toJSON = Array.prototype.toJSON = Date.prototype.toJSON = () => 1;
    JSON.stringify = () => 'no'; Array.prototype.map = () => 'no'; Promise.prototype.then = () => 'no';
    Map.prototype.get = () => 'no'; Error.prototype.name = 'no'; Math.random = () => 5;
    Array.from = () => 'no'; Object.keys = () => 'no'; String.prototype.isWellFormed = () => 'no';
    const AsyncFunction = (async () => {}).constructor, Generator = (function* () {})().constructor;
    AsyncFunction.prototype.call = () => 'no'; Object.getPrototypeOf([][Symbol.iterator]()).next = () => 'no';
    text({ a: [1], d: new Date(0) }); text([1].map((x) => x + 1)); text(Object.keys({ k: 1 })); text([...[1, 2]]);
    class E extends Error { constructor() { super('m'); this.name = 'E'; this.message = 'own'; this.toString = () => 'mine' } }
    const e = new E(); text([e.name, e.message, e.toString(), Object.keys(e).join()]);
    const list = []; list.map = 5; text(list.map); const o = {}; o.toString = () => 'o'; o.constructor = 1; text(o + o.constructor);
    class L extends Array {} L.from = () => 'L'; text(L.from()); const f = () => {}; f.call = 3; text(f.call);
    return [Object.isFrozen(Array.prototype), Object.isFrozen(JSON), Math.random() < 1, new Error('x').name].join()`;
  const { texts, failure } = await pool.run(source);
  expect(failure).toBeUndefined();
  expect(texts).toEqual([
    '{"a":[1],"d":"1970-01-01T00:00:00.000Z"}',
    '[2]',
    '["k"]',
    '[1,2]',
    '["E","own","mine","name,toString"]',
    '5',
    'o1',
    'L',
    '3',
    'true,true,true,Error',
  ]);
});

it('replaces every global without harm to itself or to the next cell', async () => {
  const poison = `
    for (const key of Reflect.ownKeys(globalThis)) { try { globalThis[key] = null } catch {} try { delete globalThis[key] } catch {} }
    text('still here'); store('k', 1); console.log('line'); return load('k')`;
  expect(await pool.run(poison)).toMatchObject({ state: 'completed', texts: ['still here', '1'], lines: ['line'] });
  const look = 'return [typeof Object, typeof k, typeof globalThis.secret, Reflect.ownKeys(globalThis).length > 60]';
  expect((await pool.run(`globalThis.secret = 1; Symbol.for('s'); ${look}`)).texts[0]).toContain('number');
  expect((await pool.run(look, { tenantId: 't_2' })).texts).toEqual(['["function","undefined","undefined",true]']);
  expect((await pool.run(look)).texts).toEqual(['["function","undefined","undefined",true]']);
});

it('takes the results of trusted built-ins only', async () => {
  const source = `
    Object.defineProperty(globalThis, 'JSON', { value: { stringify: () => 'no', parse: () => 'no' } });
    globalThis.Map = globalThis.Promise = globalThis.Error = function () { text('ran') };
    try { Object.defineProperty(Object.prototype, 'code', { get: () => 'cpu_limit' }) } catch {}
    try { Object.setPrototypeOf(Error.prototype, null) } catch {}
    store('k', [1]); text(load('k')); throw new TypeError('kept')`;
  const result = await pool.run(source);
  expect(result.texts).toEqual(['[1]']);
  expect(result.failure).toMatchObject({ code: 'script_error', message: 'TypeError: kept' });
  expect(result.writes).toEqual([{ key: 'k', json: '[1]' }]);
});
