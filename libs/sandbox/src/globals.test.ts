import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const SHARED = {
  ALL_TOOLS: 'length',
  audio: 'length name',
  console: 'debug error info log warn',
  exit: 'length name',
  image: 'length name',
  load: 'length name',
  store: 'length name',
  text: 'length name',
  tools: '',
};
const HELPERS = {
  exec: {
    ...SHARED,
    clearTimeout: 'length name',
    notify: 'length name',
    setTimeout: 'length name',
    yield_control: 'length name',
  },
  codemode: {
    ...SHARED,
    describeNamespace: 'length name',
    describeTool: 'length name',
    models: 'classify generateImages getAvailableOfType getModelOfType getModelsOfType',
    searchTools: 'length name',
  },
};

describe.each(['exec', 'codemode'] as const)('%s', (dialect) => {
  const helpers = HELPERS[dialect];

  it('has exactly these globals', async () => {
    const { texts } = await pool.run('return Reflect.ownKeys(globalThis).map(String).sort()', { dialect });
    const symbols = ['Symbol(Symbol.toStringTag)'];
    expect(JSON.parse(texts[0] ?? '')).toEqual([...LANGUAGE.split(' '), ...Object.keys(helpers), ...symbols].sort());
  });

  it('has helpers with exactly these properties, which cannot be changed', async () => {
    const source = `
      const seen = {}, loose = [];
      for (const name of ${JSON.stringify(Object.keys(helpers))}) {
        const { get, set, configurable, enumerable } = Object.getOwnPropertyDescriptor(globalThis, name);
        const helper = globalThis[name];
        seen[name] = Reflect.ownKeys(helper).map(String).sort().join(' ');
        if (configurable || enumerable || typeof get !== 'function' || typeof set !== 'function') loose.push(name);
        if (name !== 'tools' && name !== 'ALL_TOOLS' && !Object.isFrozen(helper)) loose.push(name + ' itself');
        for (const part of name === 'models' || name === 'console' ? Object.values(helper) : [])
          if (!Object.isFrozen(part) || Reflect.ownKeys(part).sort().join(' ') !== 'length name') loose.push(name + '.' + part.name);
      }
      return [seen, loose]`;
    const { texts } = await pool.run(source, { dialect });
    expect(JSON.parse(texts[0] ?? '')).toEqual([helpers, []]);
  });

  it('reaches nothing of the host by walking from any helper', async () => {
    const source = `
      const seen = new Set(), names = new Set();
      const walk = (value) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
        seen.add(value);
        if (value === tools) return;
        for (const key of Reflect.ownKeys(value)) {
          names.add(String(key));
          const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key);
          walk(held); walk(get); walk(set);
        }
        walk(Object.getPrototypeOf(value));
      };
      for (const name of ${JSON.stringify(Object.keys(helpers))}) { walk(globalThis[name]); walk(Object.getOwnPropertyDescriptor(globalThis, name)); }
      const own = [...seen].every((v) => v === tools || v instanceof Object || Object.getPrototypeOf(v) === null);
      const evil = [...seen].filter((v) => typeof v === 'function').map((f) => {
        try { return f.constructor('return typeof process + typeof require + typeof send + typeof receive + typeof limits + typeof KIND')() } catch (e) { return e.name }
      });
      return [seen.size > 100, own, [...new Set(evil)], ['process', 'require', 'send', 'receive', 'mainModule'].filter((n) => names.has(n))]`;
    const { texts, failure } = await pool.run(source, { dialect });
    expect(failure).toBeUndefined();
    expect(texts).toEqual([`[true,true,["${'undefined'.repeat(6)}"],[]]`]);
  });
});

it('has nothing ambient', async () => {
  const names =
    'process require module Buffer fetch XMLHttpRequest WebSocket WebAssembly SharedArrayBuffer Atomics setInterval ' +
    'queueMicrotask std os Deno Bun Worker performance send receive limits models searchTools describeTool describeNamespace';
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
