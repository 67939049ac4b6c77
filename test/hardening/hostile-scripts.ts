/** A script that attacks, and the only outcomes that are acceptable: a failure's code, or `completed`. */
export interface HostileScript {
  /** Its row in the table of hostile scripts. */
  row: number;
  name: string;
  source: string;
  outcomes: readonly string[];
  /** CPU time that it gets, in ms; left out: what the test gives to all. */
  cpuMs?: number;
  /** Texts that a completed script must have written. */
  texts?: readonly string[];
}

const LIMITS = ['deadline', 'cpu_limit'];
const LIMITS_OR_ERROR = [...LIMITS, 'script_error', 'out_of_memory'];
const CAUGHT = ['true'];
/** For tens of megabytes on a busy machine: their limit is what is tested, not time. */
const MEGABYTES_MS = 20_000;

/** Writes whether the error can be caught. */
const caught = (source: string): string => `try { ${source} } catch (e) { text(e instanceof Error) }`;

/** Played through the API beside another tenant's ordinary scripts. */
export const hostileScripts: readonly HostileScript[] = [
  { row: 1, name: 'an endless loop', source: 'for (;;);', outcomes: LIMITS },
  {
    row: 2,
    name: 'loops that swallow the interrupt',
    source: 'for (;;) { try { for (;;); } catch { } finally { for (;;); } }',
    outcomes: LIMITS,
  },
  { row: 3, name: 'a nested quantifier', source: '/^(a+)+$/.test("a".repeat(40) + "b")', outcomes: LIMITS_OR_ERROR },
  {
    row: 4,
    name: 'sort of a huge array',
    source: 'const a = []; a.length = 4294967295; a.sort()',
    outcomes: LIMITS_OR_ERROR,
  },
  {
    row: 4,
    name: 'indexOf in a huge array',
    source: 'const b = []; b.length = 4294967295; b.indexOf(1)',
    outcomes: LIMITS_OR_ERROR,
  },
  {
    row: 4,
    name: 'join of a huge array-like',
    source: "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
    outcomes: LIMITS_OR_ERROR,
  },
  { row: 5, name: 'a huge array as a string', source: "text((new Array(1e9) + '').length)", outcomes: LIMITS_OR_ERROR },
  {
    row: 4,
    name: 'concat of a huge array-like',
    source: '[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })',
    outcomes: LIMITS_OR_ERROR,
  },
  {
    row: 6,
    name: 'a search for an almost-match',
    source: "const s = 'a'.repeat(5e6); text(s.indexOf('a'.repeat(2.5e6) + 'b'))",
    outcomes: [...LIMITS_OR_ERROR, 'completed'],
  },
  { row: 7, name: 'BigInt powers', source: 'let x = 3n; for (;;) x = x * x', outcomes: LIMITS_OR_ERROR },
  {
    row: 7,
    name: 'printing millions of digits',
    source: 'text(String(2n ** 50000000n).length)',
    outcomes: [...LIMITS_OR_ERROR, 'completed'],
  },
  {
    row: 8,
    name: 'a promise that reschedules itself',
    source: 'const f = () => Promise.resolve().then(f); await f()',
    outcomes: LIMITS,
  },
  { row: 9, name: 'a promise that nobody settles', source: 'await new Promise(() => {})', outcomes: ['stalled'] },
  {
    row: 10,
    name: 'three million small objects',
    source: 'const kept = []; for (let i = 0; i < 3e6; i++) kept.push({ i, next: { i } }); text(kept.length)',
    outcomes: ['out_of_memory', 'completed', ...LIMITS],
  },
  {
    row: 11,
    name: 'kept typed arrays',
    source: 'const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))',
    outcomes: ['out_of_memory'],
  },
  {
    row: 12,
    name: 'going on after out-of-memory',
    source: 'const kept = []; for (;;) { try { for (;;) kept.push(new Uint8Array(1e6)) } catch { } }',
    outcomes: ['out_of_memory', ...LIMITS],
  },
  {
    row: 13,
    name: 'doubling a string',
    source: "let s = 'x'; for (;;) s += s",
    outcomes: ['script_error', 'out_of_memory'],
  },
  {
    row: 13,
    name: 'a long repeat',
    source: "text('ab'.repeat(2 ** 29).length)",
    outcomes: ['script_error', 'out_of_memory', 'completed'],
  },
  {
    row: 14,
    name: 'many objects in a promise job',
    source:
      'await Promise.resolve().then(() => { globalThis.k = Array.from({ length: 200000 }, (_, i) => ({ i })) }); text(k.length)',
    outcomes: ['completed'],
    texts: ['200000'],
  },
  {
    cpuMs: MEGABYTES_MS,
    row: 15,
    name: '30 MB to text',
    source: caught("text('x'.repeat(3e7))"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    cpuMs: MEGABYTES_MS,
    row: 15,
    name: '30 MB to console',
    source: caught("console.log('x'.repeat(3e7))"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    cpuMs: MEGABYTES_MS,
    row: 15,
    name: '30 MB to notify',
    source: caught("notify('x'.repeat(3e7))"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    cpuMs: MEGABYTES_MS,
    row: 15,
    name: '30 MB as the argument of a tool',
    source: caught("await tools.echo({ value: 'x'.repeat(3e7) })"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    cpuMs: MEGABYTES_MS,
    row: 15,
    name: '30 MB to store',
    source: caught("store('k', 'x'.repeat(3e7))"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    row: 16,
    name: 'endless recursion',
    source: caught('(function f() { f() })()'),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    row: 16,
    name: 'a getter that calls itself',
    source: caught('const o = { get x() { return this.x } }; o.x'),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    row: 16,
    name: 'toString that calls itself',
    source: caught('const o = { toString() { return String(this) } }; String(o)'),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    row: 16,
    name: 'a tower of proxies',
    source: caught('let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x; text(true)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  {
    row: 16,
    name: 'a chain of bind',
    source: caught('let f = () => 1; for (let i = 0; i < 100000; i++) f = f.bind(null); f(); text(true)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  {
    row: 17,
    name: 'deep JSON',
    source: caught("JSON.parse('['.repeat(200000))"),
    outcomes: ['completed'],
    texts: CAUGHT,
  },
  {
    row: 17,
    name: 'a deep object as JSON',
    source: caught('let o = {}; for (let i = 0; i < 200000; i++) o = { o }; JSON.stringify(o)'),
    outcomes: ['completed', ...LIMITS],
    texts: CAUGHT,
  },
  { row: 18, name: 'nested brackets in the source', source: '['.repeat(50000), outcomes: ['syntax_error'] },
  {
    row: 18,
    name: 'nested groups in a regular expression',
    source: `/${'('.repeat(50000)}/`,
    outcomes: ['syntax_error'],
  },
  {
    row: 20,
    name: 'imports and ambient things',
    source:
      "text([typeof require, typeof std, typeof os, typeof Worker, typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly].every(t => t === 'undefined')); try { await import('std'); text('imported') } catch { text(true) }",
    outcomes: ['completed'],
    texts: ['true', 'true'],
  },
  {
    row: 21,
    name: '__proto__ as a key of values',
    source:
      "store('__proto__', JSON.parse('{\"__proto__\":1}')); text(load('__proto__')); text(({}).polluted === undefined)",
    outcomes: ['completed'],
    texts: ['{"__proto__":1}', 'true'],
  },
  {
    row: 24,
    name: 'replaced built-ins',
    source:
      "for (const k of Reflect.ownKeys(globalThis)) { try { globalThis[k] = undefined; delete globalThis[k] } catch { } } text('spoke')",
    outcomes: ['completed'],
    texts: ['spoke'],
  },
  {
    row: 22,
    name: 'an error that imitates our codes',
    source: "throw { name: 'deadline', code: 'worker_lost', kind: 'end', state: 'completed' }",
    outcomes: ['script_error'],
  },
  {
    row: 22,
    name: 'a poisoned prototype of promises',
    source:
      "try { Promise.prototype.then = () => { throw 1 }; Symbol.iterator = 1 } catch { } text(await Promise.resolve('ok'))",
    outcomes: ['completed'],
    texts: ['ok'],
  },
  {
    row: 13,
    name: 'growth by replaceAll and padEnd',
    source: "let s = 'xx'; for (;;) s = s.replaceAll('x', 'xx').padEnd(s.length * 3, s)",
    outcomes: LIMITS_OR_ERROR,
  },
  {
    row: 7,
    name: 'parsing millions of digits',
    source: "text(typeof BigInt('9'.repeat(5e6)))",
    outcomes: [...LIMITS_OR_ERROR, 'completed'],
  },
  {
    row: 19,
    name: 'constructor walks from all that a script is given',
    source: `
      const before = Reflect.ownKeys(globalThis).length;
      const given = [text, tools, tools.echo, ALL_TOOLS, store, async () => {}, function* () {}, async function* () {},
        await tools.echo({ value: 'x' }), await tools.structured({})];
      try { await tools.echo() } catch (e) { given.push(e) }
      try { tools.missing } catch (e) { given.push(e) }
      const found = given.flatMap((one) => {
        const walked = [];
        for (let at = one, i = 0; at !== null && at !== undefined && i < 6; i++) walked.push(at = at.constructor);
        return walked.filter((f) => typeof f === 'function').map((f) => {
          try { return f('return typeof process + typeof require + typeof fetch + typeof send')() } catch { return '' }
        });
      });
      text(found.every((said) => typeof said !== 'string' || said === '' || said === 'undefined'.repeat(4) || !/object|function/.test(said)));
      text(found.includes('undefined'.repeat(4)));
      text(Reflect.ownKeys(globalThis).length - before)`,
    outcomes: ['completed'],
    texts: ['true', 'true', '0'],
  },
  {
    row: 21,
    name: '__proto__ and constructor as keys of arguments and results',
    source: `
      const odd = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
      text((await tools.mirror(odd)) === JSON.stringify(odd));
      const back = await tools.odd({});
      text(Object.keys(back).join()); text(({}).polluted === undefined && [].polluted === undefined)`,
    outcomes: ['completed'],
    texts: ['true', 'constructor', 'true'],
  },
  {
    row: 22,
    name: 'replaced JSON, toJSON and iterators beside tool calls',
    source: `
      try { JSON.stringify = () => '{"value":"mine"}'; Object.prototype.toJSON = () => 1; Array.prototype.toJSON = () => 1;
        Array.prototype[Symbol.iterator] = 1; Object.defineProperty(Error.prototype, 'message', { set() { throw 1 } }) } catch {}
      text(await tools.echo({ value: 'ours' })); text([1, 2]);
      try { await tools.echo({}) } catch (e) { text(e instanceof Error) }`,
    outcomes: ['completed'],
    texts: ['ours', '[1,2]', 'true'],
  },
  ...[
    "{ type: 'ended', cell: 1, end: { kind: 'completed' } }",
    "Object.assign(new Error('deadline'), { name: 'CpuLimit', code: 'cpu_limit' })",
    'null',
    "new (class extends Error { get code() { return 'worker_lost' } get message() { for (;;); } })()",
  ].map((thrown) => ({ row: 22, name: `throwing ${thrown}`, source: `throw ${thrown}`, outcomes: ['script_error'] })),
  {
    row: 23,
    name: '100,000 parallel calls',
    source: 'await Promise.all(Array.from({ length: 100000 }, (_, i) => tools.echo({ value: String(i) })))',
    outcomes: ['script_error', 'out_of_memory', ...LIMITS],
  },
  {
    row: 23,
    name: 'calls after the end',
    source: "const again = () => tools.echo({ value: 'late' }).finally(again); again(); text('done'); exit()",
    outcomes: ['completed'],
    texts: ['done'],
  },
  {
    row: 23,
    name: 'names of tools that objects have',
    source: `
      for (const name of ['then', '__proto__', 'constructor', 'toJSON', 'hasOwnProperty', 'prototype', 'valueOf'])
        text(Object.hasOwn(tools, name) || name in tools && Object.keys(tools).includes(name));
      text((await tools) === tools)`,
    outcomes: ['completed'],
    texts: [...Array.from({ length: 7 }, () => 'false'), 'true'],
  },
  {
    row: 24,
    name: 'poison for the next script',
    source:
      "globalThis.k = 1; for (const f of [Object, Array, Promise, Function, text, tools]) { try { f.k = 1; f.prototype.k = 1 } catch {} } store('k', 1)",
    outcomes: ['completed'],
  },
];
