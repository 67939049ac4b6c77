import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

it('gives fresh copies of what there was, and keeps copies of what is stored', async () => {
  const source = `
    const old = load('old'); old.n = 9;
    const mine = { x: 7 }; store('mine', mine); mine.x = 8;
    store('gone', undefined); store('old', load('old').n + 1);
    return [load('old'), load('mine').x, load('gone'), load('never'), load(5)]`;
  const { texts, writes } = await pool.run(source, { values: { old: '{"n":1}', gone: '1' } });
  expect(texts).toEqual(['[2,7,null,null,null]']);
  expect(writes).toEqual([
    { key: 'mine', json: '{"x":7}' },
    { key: 'gone', json: null },
    { key: 'old', json: '2' },
  ]);
});

it('merges the writes of one key', async () => {
  const { writes } = await pool.run('store("k", 1); store("k", undefined); store("k", [3])');
  expect(writes).toEqual([{ key: 'k', json: '[3]' }]);
});

it('keeps odd keys and characters', async () => {
  const source = `
    for (const k of ['__proto__', 'constructor', 'then', '', 'a\\0\\ud800']) store(k, k + '!');
    return ['__proto__', 'constructor', 'then', '', 'a\\0\\ud800', 'toString'].map(load)`;
  const { texts, writes } = await pool.run(source);
  expect(JSON.parse(texts[0] ?? '')).toEqual(['__proto__!', 'constructor!', 'then!', '!', 'a\0\ud800!', null]);
  expect(writes.map(({ key }) => key)).toEqual(['__proto__', 'constructor', 'then', '', 'a\0\ud800']);
  expect(JSON.parse(writes[4]?.json ?? '')).toBe('a\0\ud800!');
});

it('survives a failure', async () => {
  const { state, writes } = await pool.run('store("k", 1); throw 1', { dialect: 'codemode' });
  expect(state).toBe('failed');
  expect(writes).toEqual([{ key: 'k', json: '1' }]);
});

it.each<[string, string]>([
  ['store(5, 1)', 'TypeError: store: the key must be a string, and it is a number'],
  ['store("k".repeat(513), 1)', 'RangeError: store("kkk'],
  ['store("k", () => 1)', 'TypeError: store("k"): a function cannot be kept'],
  ['store("k", Symbol())', 'TypeError: store("k"): a symbol cannot be kept'],
  ['store("k", 1n)', 'TypeError: store("k"): the value cannot be kept as JSON'],
  [
    'const a = []; a[0] = a; store("k", a)',
    'TypeError: store("k"): the value cannot be kept as JSON: circular reference',
  ],
  [
    'store("k", "x".repeat(262143))',
    'RangeError: store("k"): the value has 262145 characters of JSON, and one value may have 262144',
  ],
  [
    'for (let i = 0; i < 5; i++) store("k" + i, "x".repeat(262000))',
    'RangeError: store("k4"): all values and keys together would have 1310029 characters, and they may have 1048576',
  ],
  ['store("k", "x".repeat(3e7))', 'RangeError: store("k")'],
])('refuses %s', async (source, message) => {
  const keeps = `store('k', 'before'); ${source}`;
  const { failure, writes } = await pool.run(keeps);
  expect(failure?.code).toBe('script_error');
  expect(failure?.message.slice(0, message.length)).toBe(message);
  expect(writes[0]).toEqual({ key: 'k', json: '"before"' });
});

it('counts the values that were there, and frees what is deleted', async () => {
  const values = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`v${i}`, `"${'x'.repeat(262_000)}"`]));
  const source = `
    try { store('more', 'y'.repeat(1000)) } catch (e) { text(e.name) }
    store('v0', undefined); store('more', 'y'.repeat(1000)); return load('more').length`;
  expect(await pool.run(source, { values })).toMatchObject({ state: 'completed', texts: ['RangeError', '1000'] });
});

it('bounds deletions too', async () => {
  const { failure } = await pool.run('for (let i = 0; ; i++) store("k".repeat(500) + i, undefined)');
  expect(failure?.message).toMatch(/^RangeError: store/);
});
