import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadEngine } from '../assets.js';
import { OutputJournal } from '../journal.js';
import { SIGNAL, type FromThread, type SettledCall } from '../protocol.js';
import { shareView } from '../views.js';
import { ThreadCell } from './cell.js';
import { takeChanges, putChanges } from './changes.js';
import { HostChannel, liveSource, type ChannelSource, type Crossing } from './channel.js';
import { Guest, silentHost } from './guest.js';
import { BaseImage } from './image.js';
import { EngineInstance } from './instance.js';
import { Outbox } from './outbox.js';
import { ToolViews } from './tool-view.js';
import { testView } from '../../test/test-view.js';

const view = shareView(testView([{ name: 'ask' }]));
const budget = { cpuMs: 5_000, stretchCpuMs: 100 };

let image: BaseImage;
/** The guest that is recorded, and the one that replays. */
let recorded: Guest;
let replayed: Guest;
beforeAll(async () => {
  const { module, prelude } = await loadEngine();
  const newEngine = () => EngineInstance.create(module, silentHost);
  recorded = Guest.build(await newEngine(), prelude);
  image = BaseImage.take(recorded.engine);
  const other = await newEngine();
  image.load(other);
  replayed = new Guest(other, recorded.pointers);
});

/** One script on one guest: what it told, but for CPU times and how output was packed. */
class Run {
  readonly told: unknown[] = [];
  readonly open: number[] = [];
  readonly timers: number[] = [];
  readonly cell: ThreadCell;

  constructor(
    readonly guest: Guest,
    channel: HostChannel,
    signals: Int32Array,
  ) {
    const outbox = new Outbox(1, new OutputJournal(OutputJournal.allocate()), (message) => this.hear(message));
    this.cell = new ThreadCell({ cell: 1, ...budget }, guest, signals, outbox, new ToolViews().get(view), channel);
    image.restore(guest.engine);
    guest.engine.attach(this.cell);
  }

  private hear(message: FromThread): void {
    if (message.type === 'output') this.told.push(...message.items);
    else if ('cpuMs' in message) this.told.push({ ...message, cpuMs: 0 });
    else this.told.push(message);
    if (message.type === 'call') this.open.push(message.callId);
    if (message.type === 'timer') this.timers.push(message.id);
  }
}

/** The source of a record: it answers each question by the number it had. */
class Recorded implements ChannelSource {
  private number = 0;
  private readonly byNumber: ReadonlyMap<number, Crossing>;

  constructor(record: readonly Crossing[]) {
    this.byNumber = new Map(record.map((crossing) => [crossing.number, crossing]));
  }

  clock(): number {
    const crossing = this.next();
    if (crossing?.kind !== 'clock') throw new Error(`the script read the clock where it had not: ${this.number}`);
    return crossing.ms;
  }

  interruption() {
    const crossing = this.next();
    return crossing?.kind === 'interruption' ? crossing.cause : undefined;
  }

  isStopped(): boolean {
    return this.next()?.kind === 'stopped';
  }

  /** The script was given something. */
  passed(): void {
    this.next();
  }

  private next(): Crossing | undefined {
    this.number += 1;
    return this.byNumber.get(this.number);
  }
}

/** Plays a script, with results and timers in the order that `choose` makes, and keeps what crossed. */
function record(source: string, choose: (n: number) => number, moves = false): { told: unknown[]; record: Crossing[] } {
  const crossings: Crossing[] = [];
  const signals = new Int32Array(SIGNAL.count);
  const channel = new HostChannel(liveSource(signals, budget), (crossing) => crossings.push(crossing));
  const run = new Run(recorded, channel, signals);
  let over = run.cell.start({ source, seed: [choose(1e9), 7], values: ['k', '"v"'], dialect: 'exec' });
  for (let step = 0; !over && step < 50; step += 1) {
    if (moves) {
      // As hibernation does.
      const changes = takeChanges(image, run.guest.engine);
      image.restore(run.guest.engine);
      putChanges(image, run.guest.engine, changes);
    }
    const results: SettledCall[] = [];
    const timers: number[] = [];
    const take = (list: number[]): number => {
      const [taken = 0] = list.splice(choose(list.length), 1);
      return taken;
    };
    if (run.open.length > 0 && (run.timers.length === 0 || choose(2) === 0)) {
      const result =
        choose(3) === 0 ? { ok: false as const, message: 'no' } : { ok: true as const, json: `${choose(99)}` };
      results.push({ callId: take(run.open), result });
    } else if (run.timers.length > 0) timers.push(take(run.timers));
    else {
      run.cell.stop();
      over = true;
    }
    if (!over) over = run.cell.resume({ results, timers });
  }
  run.guest.engine.attach(silentHost);
  return { told: run.told, record: crossings };
}

/** Plays a record on another guest. */
function replay(record: readonly Crossing[]): unknown[] {
  const source = new Recorded(record);
  const run = new Run(replayed, new HostChannel(source), new Int32Array(SIGNAL.count));
  let over = false;
  for (const crossing of record) {
    if (crossing.kind === 'start') {
      source.passed();
      over = run.cell.start(crossing.start);
    } else if (crossing.kind === 'resume' && !over) {
      source.passed();
      over = run.cell.resume(crossing.wakeUp);
    }
  }
  if (!over) run.cell.stop();
  run.guest.engine.attach(silentHost);
  return run.told;
}

const SCRIPTS = {
  'time and random numbers': 'text(Date.now()); text(Math.random()); return [new Date(), Date.now(), Math.random()]',
  'results in any order': `
    const all = Array.from({ length: 5 }, (_, i) => tools.ask({ i }).then((v) => text([i, v, Date.now()]), (e) => text(e.message)));
    await Promise.all(all); return load('k')`,
  'timers and calls in a race': `
    const timer = (i) => new Promise((r) => setTimeout(() => r('t' + i), i));
    for (let i = 0; i < 4; i++) text(await Promise.race([timer(i), tools.ask({ i }).catch((e) => e.message)]));
    store('k', Math.random()); notify('done'); yield_control()`,
  'rejections that nobody handles': `
    const p = Promise.reject(new Error('late')); Promise.reject(Math.random());
    await tools.ask().catch(() => {}); p.catch(() => {}); tools.ask(); return 1`,
  'a failure': "text('a'); await tools.ask(); throw new Error('at ' + Date.now())",
  'an endless loop': "text('a'); for (let i = 0; ; i++) if (i % 1e5 === 0) text(i + ' ' + Date.now())",
  'a loop of promises':
    'let n = 0; const f = () => Promise.resolve().then(() => { if (n++ % 1e4 === 0) text(n); return f() }); await f()',
  'an end by exit()':
    'text(Math.random()); setTimeout(() => { text(Date.now()); exit() }, 5); await tools.ask(); await new Promise(() => {})',
};

describe('a record of what crossed the channel', () => {
  it.each(Object.entries(SCRIPTS))('gives the same run again: %s', (_name, source) => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), fc.boolean(), (stream, moves) => {
        const choose = (n: number): number => (n === 0 ? 0 : (stream.next().value as number) % n);
        const { told, record: kept } = record(source, choose, moves);
        expect(kept[0]).toMatchObject({ number: 1, kind: 'start' });
        expect(replay(JSON.parse(JSON.stringify(kept)) as Crossing[])).toEqual(told);
      }),
      { numRuns: 5 },
    );
  });

  it('is needed: another clock gives another run', () => {
    const { told, record: kept } = record('return Date.now()', () => 0);
    const other = kept.map((crossing) => (crossing.kind === 'clock' ? { ...crossing, ms: 1 } : crossing));
    expect(replay(kept)).toEqual(told);
    expect(replay(other)).not.toEqual(told);
  });
});
