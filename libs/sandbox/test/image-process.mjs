// node image-process.mjs INDEX write|resume FILE: takes a waiting script out of a pool into a file, or goes on with it.
// INDEX is the built libs/sandbox/src/index.js, so that this file works from any folder and on any Node.
import { readFileSync, writeFileSync } from 'node:fs';

const [index, mode, file] = process.argv.slice(2);
const { createSandboxPool, packImage, unpackImage } = await import(index);
const { packView } = await import(index.replace('/libs/sandbox/', '/libs/script/'));

const source = `
  class Counter { #n = 40; add() { return ++this.#n } }
  const counter = new Counter(); counter.add();
  function* numbers() { yield 1; yield 2; yield 3 }
  const it = numbers(); it.next();
  const kept = { x: 1 }, weak = new WeakRef(kept), map = new WeakMap([[kept, 'found']]);
  const pattern = /b+/g; pattern.exec('abbb');
  const date = String(new Date(2026, 6, 1, 12)), random = Math.random(), big = 2n ** 200n;
  text('before');
  const { sum } = await tools.add({ a: 1, b: 2 });
  const after = await Promise.all([1, 2].map(async (i) => 'y' + (await tools.add({ i })).sum));
  await new Promise((resolve) => setTimeout(resolve, 1));
  return [sum, after, counter.add(), it.next().value, weak.deref().x, map.get(kept), pattern.lastIndex,
    date === String(new Date(2026, 6, 1, 12)), random === Math.random(), big % 1000007n === 0n, (1234.5).toLocaleString()];
`;
const add = { name: 'add', description: '', inputSchema: {}, exposure: 'core', delivery: { kind: 'client' } };
const basis = {
  cellId: 'c_0000000000000000',
  tenantId: 't_1',
  limits: { cpuMs: 5_000, stretchCpuMs: 5_000, wallInMs: 60_000 },
  view: { memory: packView([{ toolset: 'kit', text: JSON.stringify({ tools: [add] }) }]) },
};
const texts = [];
const heard = {};
const waiting = new Promise((resolve) => (heard.waiting = resolve));
let cell;
const listener = {
  output: (items) => texts.push(...items.map((item) => item.text)),
  boundary: () => undefined,
  call: ({ callId }) => {
    if (mode === 'resume') cell.settle(callId, { ok: true, json: JSON.stringify({ sum: 10 + callId }) });
  },
  note: () => undefined,
  waiting: () => heard.waiting(),
};

const pool = await createSandboxPool({ slots: 1 });
const slot = await pool.acquire();
if (mode === 'write') {
  cell = slot.start({ ...basis, dialect: 'exec', source, values: new Map() }, listener);
  await waiting;
  const { image, state, timers } = await cell.takeOut();
  writeFileSync(file, await packImage(image));
  writeFileSync(`${file}.json`, JSON.stringify({ state, timers }));
} else {
  const image = await unpackImage(readFileSync(file));
  cell = slot.resume(basis, { image, ...JSON.parse(readFileSync(`${file}.json`, 'utf8')) }, listener);
  cell.settle(1, { ok: true, json: '{"sum":3}' });
  const { state } = await cell.outcome;
  texts.unshift(state);
}
await pool[Symbol.asyncDispose]();
console.log(JSON.stringify(texts));
