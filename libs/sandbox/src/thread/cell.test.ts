import { beforeAll, expect, it } from 'vitest';
import { loadEngine } from '../assets.js';
import { OutputJournal } from '../journal.js';
import { SIGNAL, type FromThread } from '../protocol.js';
import { ThreadCell } from './cell.js';
import { Guest, silentHost } from './guest.js';
import { BaseImage } from './image.js';
import { EngineInstance } from './instance.js';
import { Outbox } from './outbox.js';
import { ToolView } from './tool-view.js';

let guest: Guest;
let image: BaseImage;
beforeAll(async () => {
  const { module, prelude } = await loadEngine();
  guest = Guest.build(await EngineInstance.create(module, silentHost), prelude);
  image = BaseImage.take(guest.engine);
});

/** Runs a script on this very thread. `post` may throw, as a host function that fails does. */
function run(
  source: string,
  seed: [number, number],
  post: (message: FromThread) => void = () => undefined,
): FromThread[] {
  const told: FromThread[] = [];
  image.restore(guest.engine);
  const signals = new Int32Array(SIGNAL.count);
  const given = {
    type: 'start',
    cell: 1,
    tenantId: 't',
    dialect: 'exec',
    source,
    values: [],
    cpuMs: 5000,
    stretchCpuMs: 5000,
    seed,
    view: null,
  } as const;
  const outbox = new Outbox(1, new OutputJournal(OutputJournal.allocate()), (message) => {
    told.push(message);
    post(message);
  });
  const cell = new ThreadCell(given, guest, signals, outbox, new ToolView(undefined));
  guest.engine.attach(cell);
  cell.start({ ...given, values: [] });
  guest.engine.attach(silentHost);
  return told;
}

it('gives the same numbers for the same seed', () => {
  const source = 'return [Math.random(), Math.random()]';
  const [first, second, other] = [run(source, [1, 2]), run(source, [1, 2]), run(source, [2, 1])].map((told) => told[0]);
  expect(first).toMatchObject({ type: 'output' });
  expect(second).toEqual(first);
  expect(other).not.toEqual(first);
});

it('leaves the base state after a restore', () => {
  run('globalThis.a = Array.from({ length: 1e5 }, (_, i) => ({ i }))', [1, 2]);
  expect(image.firstDifference(guest.engine)).toBeTypeOf('number');
  image.restore(guest.engine);
  expect(image.firstDifference(guest.engine)).toBeUndefined();
});

it('retires its thread when an exception crosses the engine', () => {
  const told = run('text(1)', [1, 2], (message) => {
    if (message.type === 'output') throw new Error('a fault of the host');
  });
  const retire = 'Error: a fault of the host';
  expect(told.at(-1)).toMatchObject({ type: 'ended', end: { kind: 'failed', code: 'internal' }, retire });
});

it('keeps the end that the script had reached before', () => {
  const told = run('store("k", 1); exit()', [1, 2], (message) => {
    if (message.type === 'reached') throw new Error('a fault of the host');
  });
  expect(told.at(-1)).toMatchObject({
    type: 'ended',
    end: { kind: 'completed', writes: [{ key: 'k', json: '1' }] },
    retire: 'Error: a fault of the host',
  });
});
