import type { CellEntry } from './cell-entry.js';
import type { OutputJournal } from './journal.js';
import type { StopCause } from './failures.js';
import { OpenCalls } from './open-calls.js';
import { outcomeOf } from './outcome.js';
import type {
  CallResult,
  CellBasis,
  CellListener,
  CellOutcome,
  RunningCell,
  StopReason,
  WaitingScript,
} from './port.js';
import { SIGNAL, type FromThread, type ScriptEnd, type ToThread } from './protocol.js';
import type { ScriptState } from './script-state.js';
import { CellTimers } from './timers.js';
import { shareView } from './views.js';
import { Watchdog } from './watchdog.js';

type CellMessage = Exclude<FromThread, { type: 'ready' | 'refused' }>;

/** How long a thread may take to hand over the memory of a script, in ms, before it is told to obey. */
const SAVE_MS = 2_000;

/** What an active cell needs of its thread. */
export interface CellThread {
  readonly signals: Int32Array;
  readonly journal: OutputJournal;
  /** Sends a message; the thread gets the buffers of the list instead of copies. */
  post(message: ToThread, handedOver?: ArrayBuffer[]): void;
  /** Ends the thread for good; `ActiveCell.threadGone` follows. */
  kill(reason: string): void;
  /** The cell has left and the thread answered; `retire` says why it must not serve again. */
  release(retire: string | null): void;
}

/**
 * `running` on its thread; `waiting` there for a timer or a call; `leaving` it, until its memory has come; `asleep`
 * without a thread; `due` without one, with something to run; `over`.
 */
export type CellState = 'running' | 'waiting' | 'leaving' | 'asleep' | 'due' | 'over';

/** Who gives threads to cells and takes them back. */
export interface CellKeeper {
  /** The cell has entered a state: `waiting` ones can be asked to `hibernate`, `due` ones need a thread. */
  entered(cell: ActiveCell, state: CellState): void;
  fault(error: unknown): void;
}

/** The main side of one cell: its output, its timers, its calls, its limits, its end. */
export class ActiveCell implements RunningCell {
  readonly outcome: Promise<CellOutcome>;
  private conclude: (outcome: CellOutcome) => void = () => undefined;
  private state: CellState = 'asleep';
  private thread: CellThread | undefined;
  private cause: StopCause | undefined;
  private reached: ScriptEnd | undefined;
  private cpuMs = 0;
  /** The last batch of output that came from this thread. */
  private batch = 0;
  private isBoundaryArmed = true;
  private sliceStartedAt = 0;
  /** Timers that are due and wait for a thread. */
  private dueTimers: number[] = [];
  private taker: ((script: WaitingScript | undefined) => void) | undefined;
  private readonly timers = new CellTimers((ids) => this.goOn(ids));
  private readonly calls: OpenCalls;
  private readonly watchdog = new Watchdog(() => this.disobeyed());
  private readonly limit: NodeJS.Timeout;

  /** `entry`: how the script enters its next thread; undefined while it is on one. */
  constructor(
    readonly number: number,
    private readonly basis: CellBasis,
    private entry: CellEntry | undefined,
    private readonly listener: CellListener,
    private readonly keeper: CellKeeper,
    private readonly imageVersion: string,
  ) {
    this.outcome = new Promise((resolve) => (this.conclude = resolve));
    this.calls = new OpenCalls(entry?.type === 'wake' ? entry.state.openCalls : []);
    if (entry?.type === 'wake') this.cpuMs = entry.state.cpuMs;
    const { deadlineInMs, wallInMs } = basis.limits;
    const isDeadline = deadlineInMs !== undefined && deadlineInMs <= wallInMs;
    const limitMs = Math.min(Math.max(isDeadline ? deadlineInMs : wallInMs, 0), 2_147_483_647);
    this.limit = setTimeout(() => this.end(isDeadline ? 'deadline' : 'wall'), limitMs);
  }

  /** Bytes of memory that it holds while it has no thread. */
  get sleepingBytes(): number {
    return this.entry?.type === 'wake' ? this.entry.changes.byteLength : 0;
  }

  /** Gives the cell a thread, to start or to go on. */
  attach(thread: CellThread): void {
    const { entry } = this;
    if (entry === undefined) throw new Error('a cell that is on a thread cannot enter another one');
    this.thread = thread;
    this.entry = undefined;
    this.batch = 0;
    Atomics.store(thread.signals, SIGNAL.stop, 0);
    Atomics.store(thread.signals, SIGNAL.boundary, this.isBoundaryArmed ? 1 : 0);
    this.beginSlice();
    const { tenantId, limits, view } = this.basis;
    const { cpuMs, stretchCpuMs } = limits;
    const shared = view === undefined ? null : shareView(view);
    const basis = { cell: this.number, tenantId, cpuMs, stretchCpuMs, view: shared };
    if (entry.type === 'start') thread.post({ ...entry, ...basis });
    else thread.post({ ...entry, ...basis, ...this.takeWakeUp() }, [entry.changes]);
  }

  /** Sets the timers of a script that comes from outside of this pool. */
  setTimers(timers: WaitingScript['timers']): void {
    for (const { id, inMs } of timers) this.timers.add(id, inMs);
  }

  /** Asks the thread for the memory of the waiting script; the thread is free when it has come. */
  hibernate(): void {
    if (this.state !== 'waiting') return;
    this.enter('leaving');
    this.watchdog.watch(SAVE_MS);
    this.thread?.post({ type: 'hibernate', cell: this.number });
  }

  stop(reason: StopReason): void {
    this.end(reason);
  }

  armBoundary(): void {
    this.isBoundaryArmed = true;
    if (this.thread !== undefined) Atomics.store(this.thread.signals, SIGNAL.boundary, 1);
  }

  settle(callId: number, result: CallResult): void {
    if (this.state !== 'over' && this.calls.settle(callId, result)) this.goOn([]);
  }

  takeOut(): Promise<WaitingScript | undefined> {
    if (!this.hasNothingToRun() || this.taker !== undefined) return Promise.resolve(undefined);
    const taken = new Promise<WaitingScript | undefined>((resolve) => (this.taker = resolve));
    if (this.state === 'asleep') this.handOver();
    else this.hibernate();
    return taken;
  }

  /** Handles one message of the thread about this cell. */
  receive(message: CellMessage): void {
    if (this.state === 'over') return;
    switch (message.type) {
      case 'output':
        this.batch = message.batch;
        this.tell(() => this.listener.output(message.items));
        return;
      case 'boundary':
        this.isBoundaryArmed = false;
        this.tell(() => this.listener.boundary(message.items));
        return;
      case 'timer':
        this.timers.add(message.id, message.delayMs);
        return;
      case 'untimer':
        this.timers.delete(message.id);
        return;
      case 'call': {
        const { callId, identifier, argumentsJson } = message;
        this.calls.started(callId);
        this.tell(() => this.listener.call({ callId, identifier, argumentsJson }));
        return;
      }
      case 'note':
        this.tell(() => this.listener.note(message.text));
        return;
      case 'waiting':
        this.waits(message.cpuMs);
        return;
      case 'image':
        this.fallAsleep(message.changes, message.state);
        return;
      case 'reached':
        this.reached = message.end;
        this.watchdog.watch(0);
        return;
      case 'ended':
        this.cpuMs = message.cpuMs;
        this.finish(message.end, message.retire);
    }
  }

  /** The thread is no more: by a kill, or by a fault of its own. */
  threadGone(): void {
    if (this.state === 'over' || this.thread === undefined) return;
    if (this.state === 'running') this.cpuMs += performance.now() - this.sliceStartedAt;
    const rest = this.thread.journal.unposted(this.batch);
    if (rest.length > 0) this.tell(() => this.listener.output(rest));
    this.thread = undefined;
    this.finish(this.reached ?? { kind: 'stopped' }, null);
  }

  private enter(state: CellState): void {
    this.state = state;
    this.keeper.entered(this, state);
  }

  private waits(cpuMs: number): void {
    this.cpuMs = cpuMs;
    if (this.cause !== undefined) return;
    this.watchdog.release();
    this.state = 'waiting';
    this.tell(() => this.listener.waiting());
    if (this.calls.haveResults) this.goOn([]);
    else this.timers.start();
    // All of that may have let it go on.
    if (this.hasNothingToRun()) this.enter('waiting');
  }

  private hasNothingToRun(): boolean {
    const isAtRest = this.state === 'waiting' || this.state === 'asleep';
    return isAtRest && this.cause === undefined && !this.calls.haveResults && this.dueTimers.length === 0;
  }

  /** There is something to run: results, or these timers. */
  private goOn(timers: number[]): void {
    this.dueTimers.push(...timers);
    if (this.cause !== undefined) return;
    // A running script gets them when it waits; one that leaves its thread, when it has left.
    if (this.state === 'asleep') this.enter('due');
    else if (this.state === 'waiting') {
      this.beginSlice();
      this.thread?.post({ type: 'resume', cell: this.number, ...this.takeWakeUp() });
    }
  }

  private beginSlice(): void {
    this.timers.pause();
    this.enter('running');
    this.sliceStartedAt = performance.now();
    const { cpuMs, stretchCpuMs } = this.basis.limits;
    this.watchdog.watch(Math.max(Math.min(stretchCpuMs, cpuMs - this.cpuMs), 0));
  }

  private takeWakeUp(): { timers: number[]; results: ReturnType<OpenCalls['take']> } {
    const timers = this.dueTimers;
    this.dueTimers = [];
    return { timers, results: this.calls.take() };
  }

  /** The memory has come: the cell needs no thread until there is something to run. */
  private fallAsleep(changes: ArrayBuffer, state: ScriptState): void {
    const { thread } = this;
    if (this.state !== 'leaving' || thread === undefined) return;
    this.watchdog.release();
    this.isBoundaryArmed = Atomics.load(thread.signals, SIGNAL.boundary) === 1;
    this.entry = { type: 'wake', changes, state, isForeign: false };
    this.thread = undefined;
    if (this.cause !== undefined) this.finish({ kind: 'stopped' }, null);
    else {
      this.enter('asleep');
      if (!this.hasNothingToRun()) this.enter('due');
      if (this.taker !== undefined) this.handOver();
    }
    thread.release(null);
  }

  /** Gives the sleeping script to who takes it out, unless it has something to run by now. */
  private handOver(): void {
    const { taker, entry } = this;
    this.taker = undefined;
    if (!this.hasNothingToRun() || entry?.type !== 'wake') {
      taker?.(undefined);
      return;
    }
    const { changes, state } = entry;
    const timers = this.timers.pendingIn;
    this.leave();
    taker?.({ image: { version: this.imageVersion, changes }, state, timers });
  }

  private end(cause: StopCause): void {
    if (this.state === 'over' || this.cause !== undefined) return;
    this.cause = cause;
    this.timers.pause();
    const { thread } = this;
    if (thread === undefined) {
      this.finish({ kind: 'stopped' }, null);
      return;
    }
    Atomics.store(thread.signals, SIGNAL.stop, 1);
    thread.post({ type: 'stop', cell: this.number });
    this.watchdog.watch(0);
  }

  private disobeyed(): void {
    const { cpuMs, stretchCpuMs } = this.basis.limits;
    if (this.state === 'running') this.cause ??= cpuMs - this.cpuMs < stretchCpuMs ? 'cpu' : 'stretch';
    this.thread?.kill(`a script did not obey: ${this.cause ?? this.state}`);
  }

  private finish(end: ScriptEnd, retire: string | null): void {
    const { thread } = this;
    this.leave();
    this.taker?.(undefined);
    thread?.release(retire);
    const used = { cpuMs: this.cpuMs, openCalls: this.calls.ids };
    this.conclude(outcomeOf(end, this.cause, this.basis.limits, used));
  }

  private leave(): void {
    clearTimeout(this.limit);
    this.watchdog.release();
    this.timers.pause();
    this.thread = undefined;
    this.entry = undefined;
    this.enter('over');
  }

  /** A listener that throws must not take the cell's thread with it. */
  private tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.keeper.fault(error);
    }
  }
}
