/** A script that attacks, and the only outcomes that are acceptable: a failure's code, or `completed`. */
export interface HostileScript {
  name: string;
  source: string;
  outcomes: readonly string[];
  /** Texts that a completed script must have written. */
  texts?: readonly string[];
}

const LIMITS = ['deadline', 'cpu_limit'];
const LIMITS_OR_ERROR = [...LIMITS, 'script_error', 'out_of_memory'];
const CAUGHT = ['true'];

/** Writes whether the error can be caught. */
const caught = (source: string): string => `try { ${source} } catch (e) { text(e instanceof Error) }`;

/** Played through the API beside another tenant's ordinary scripts. */
export const hostileScripts: readonly HostileScript[] = [
  { name: 'an endless loop', source: 'for (;;);', outcomes: LIMITS },
  {
    name: 'loops that swallow the interrupt',
    source: 'for (;;) { try { for (;;); } catch { } finally { for (;;); } }',
    outcomes: LIMITS,
  },
  { name: 'a nested quantifier', source: '/^(a+)+$/.test("a".repeat(40) + "b")', outcomes: LIMITS_OR_ERROR },
  { name: 'sort of a huge array', source: 'const a = []; a.length = 4294967295; a.sort()', outcomes: LIMITS_OR_ERROR },
  {
    name: 'indexOf in a huge array',
    source: 'const b = []; b.length = 4294967295; b.indexOf(1)',
    outcomes: LIMITS_OR_ERROR,
  },
  {
    name: 'join of a huge array-like',
    source: "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
    outcomes: LIMITS_OR_ERROR,
  },
  { name: 'a huge array as a string', source: "text((new Array(1e9) + '').length)", outcomes: LIMITS_OR_ERROR },
  {
    name: 'concat of a huge array-like',
    source: '[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })',
    outcomes: LIMITS_OR_ERROR,
  },
  {
    name: 'a search for an almost-match',
    source: "const s = 'a'.repeat(5e6); text(s.indexOf('a'.repeat(2.5e6) + 'b'))",
    outcomes: [...LIMITS_OR_ERROR, 'completed'],
  },
  { name: 'BigInt powers', source: 'let x = 3n; for (;;) x = x * x', outcomes: LIMITS_OR_ERROR },
  {
    name: 'printing millions of digits',
    source: 'text(String(2n ** 50000000n).length)',
    outcomes: [...LIMITS_OR_ERROR, 'completed'],
  },
  {
    name: 'a promise that reschedules itself',
    source: 'const f = () => Promise.resolve().then(f); await f()',
    outcomes: LIMITS,
  },
  { name: 'a promise that nobody settles', source: 'await new Promise(() => {})', outcomes: ['stalled'] },
  {
    name: 'three million small objects',
    source: 'const kept = []; for (let i = 0; i < 3e6; i++) kept.push({ i, next: { i } }); text(kept.length)',
    outcomes: ['out_of_memory', 'completed', ...LIMITS],
  },
  {
    name: 'kept typed arrays',
    source: 'const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))',
    outcomes: ['out_of_memory'],
  },
  {
    name: 'going on after out-of-memory',
    source: 'const kept = []; for (;;) { try { for (;;) kept.push(new Uint8Array(1e6)) } catch { } }',
    outcomes: ['out_of_memory', ...LIMITS],
  },
  {
    name: 'doubling a string',
    source: "let s = 'x'; for (;;) s += s",
    outcomes: ['script_error', 'out_of_memory'],
  },
  {
    name: 'a long repeat',
    source: "text('ab'.repeat(2 ** 29).length)",
    outcomes: ['script_error', 'out_of_memory', 'completed'],
  },
  {
    name: 'many objects in a promise job',
    source:
      'await Promise.resolve().then(() => { globalThis.k = Array.from({ length: 200000 }, (_, i) => ({ i })) }); text(k.length)',
    outcomes: ['completed'],
    texts: ['200000'],
  },
  { name: '30 MB to text', source: caught("text('x'.repeat(3e7))"), outcomes: ['completed'], texts: CAUGHT },
  { name: '30 MB to console', source: caught("console.log('x'.repeat(3e7))"), outcomes: ['completed'], texts: CAUGHT },
  { name: '30 MB to store', source: caught("store('k', 'x'.repeat(3e7))"), outcomes: ['completed'], texts: CAUGHT },
  { name: 'endless recursion', source: caught('(function f() { f() })()'), outcomes: ['completed'], texts: CAUGHT },
  {
    name: 'a getter that calls itself',
    source: caught('const o = { get x() { return this.x } }; o.x'),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    name: 'toString that calls itself',
    source: caught('const o = { toString() { return String(this) } }; String(o)'),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    name: 'a tower of proxies',
    source: caught('let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x; text(true)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  {
    name: 'a chain of bind',
    source: caught('let f = () => 1; for (let i = 0; i < 100000; i++) f = f.bind(null); f(); text(true)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  { name: 'deep JSON', source: caught("JSON.parse('['.repeat(200000))"), outcomes: ['completed'], texts: CAUGHT },
  {
    name: 'a deep object as JSON',
    source: caught('let o = {}; for (let i = 0; i < 200000; i++) o = { o }; JSON.stringify(o)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  { name: 'nested brackets in the source', source: '['.repeat(50000), outcomes: ['syntax_error'] },
  { name: 'nested groups in a regular expression', source: `/${'('.repeat(50000)}/`, outcomes: ['syntax_error'] },
  {
    name: 'imports and ambient things',
    source:
      "text([typeof require, typeof std, typeof os, typeof Worker, typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly].every(t => t === 'undefined')); try { await import('std'); text('imported') } catch { text(true) }",
    outcomes: ['completed'],
    texts: ['true', 'true'],
  },
  {
    name: '__proto__ as a key of values',
    source:
      "store('__proto__', JSON.parse('{\"__proto__\":1}')); text(load('__proto__')); text(({}).polluted === undefined)",
    outcomes: ['completed'],
    texts: ['{"__proto__":1}', 'true'],
  },
  {
    name: 'replaced built-ins',
    source:
      "for (const k of Reflect.ownKeys(globalThis)) { try { globalThis[k] = undefined; delete globalThis[k] } catch { } } text('spoke')",
    outcomes: ['completed'],
    texts: ['spoke'],
  },
  {
    name: 'an error that imitates our codes',
    source: "throw { name: 'deadline', code: 'worker_lost', kind: 'end', state: 'completed' }",
    outcomes: ['script_error'],
  },
  {
    name: 'a poisoned prototype of promises',
    source:
      "try { Promise.prototype.then = () => { throw 1 }; Symbol.iterator = 1 } catch { } text(await Promise.resolve('ok'))",
    outcomes: ['completed'],
    texts: ['ok'],
  },
];
