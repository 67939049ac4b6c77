import type { CellWarning } from '#libs/core';
import type { OutputJournal } from './journal.js';
import { failureOf, type StopCause } from './failures.js';
import { OpenCalls } from './open-calls.js';
import type { CallResult, CellListener, CellOutcome, CellProgram, RunningCell, StopReason } from './port.js';
import { SIGNAL, type FromThread, type ScriptEnd, type ToThread } from './protocol.js';
import { CellTimers } from './timers.js';
import { Watchdog } from './watchdog.js';

type CellMessage = Exclude<FromThread, { type: 'ready' | 'refused' }>;

/** What an active cell needs of its thread. */
export interface CellThread {
  readonly signals: Int32Array;
  readonly journal: OutputJournal;
  post(message: ToThread): void;
  /** Ends the thread for good; `ActiveCell.threadGone` follows. */
  kill(reason: string): void;
  /** The cell is over and the thread answered; `retire` says why it must not serve again. */
  release(retire: string | null): void;
}

/** `running` on its thread, `waiting` for a timer or a call, `over`. */
type State = 'running' | 'waiting' | 'over';

/** The main side of one cell: its output, its timers, its calls, its limits, its end. */
export class ActiveCell implements RunningCell {
  readonly outcome: Promise<CellOutcome>;
  private conclude: (outcome: CellOutcome) => void = () => undefined;
  private state: State = 'running';
  private cause: StopCause | undefined;
  private reached: ScriptEnd | undefined;
  private cpuMs = 0;
  /** The last batch of output that came. */
  private batch = 0;
  private sliceStartedAt = performance.now();
  private readonly timers = new CellTimers((ids) => this.resume(ids));
  private readonly calls = new OpenCalls();
  private readonly watchdog = new Watchdog(() => this.disobeyed());
  private readonly limit: NodeJS.Timeout;

  constructor(
    readonly number: number,
    private readonly program: CellProgram,
    private readonly listener: CellListener,
    private readonly thread: CellThread,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.outcome = new Promise((resolve) => (this.conclude = resolve));
    const { deadlineInMs, wallInMs } = program.limits;
    const isDeadline = deadlineInMs !== undefined && deadlineInMs <= wallInMs;
    const limitMs = Math.min(Math.max(isDeadline ? deadlineInMs : wallInMs, 0), 2_147_483_647);
    this.limit = setTimeout(() => this.end(isDeadline ? 'deadline' : 'wall'), limitMs);
    this.watchSlice();
  }

  stop(reason: StopReason): void {
    this.end(reason);
  }

  armBoundary(): void {
    Atomics.store(this.thread.signals, SIGNAL.boundary, 1);
  }

  settle(callId: number, result: CallResult): void {
    if (this.state === 'over' || !this.calls.settle(callId, result)) return;
    if (this.state === 'waiting' && this.cause === undefined) this.resume([]);
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
      case 'reached':
        this.reached = message.end;
        this.watchdog.watch(0);
        return;
      case 'ended':
        this.cpuMs = message.cpuMs;
        this.finish(message.end, () => this.thread.release(message.retire));
    }
  }

  /** The thread is no more: by a kill, or by a fault of its own. */
  threadGone(): void {
    if (this.state === 'over') return;
    if (this.state === 'running') this.cpuMs += performance.now() - this.sliceStartedAt;
    const rest = this.thread.journal.unposted(this.batch);
    if (rest.length > 0) this.tell(() => this.listener.output(rest));
    this.finish(this.reached ?? { kind: 'stopped' }, () => undefined);
  }

  private waits(cpuMs: number): void {
    this.cpuMs = cpuMs;
    this.state = 'waiting';
    if (this.cause !== undefined) return;
    this.watchdog.release();
    if (this.calls.haveResults) this.resume([]);
    else this.timers.start();
  }

  /** Lets the script go on with the results that there are, and with timers that are due. */
  private resume(timers: number[]): void {
    this.timers.pause();
    this.state = 'running';
    this.sliceStartedAt = performance.now();
    this.watchSlice();
    this.thread.post({ type: 'resume', cell: this.number, timers, results: this.calls.take() });
  }

  private watchSlice(): void {
    const { cpuMs, stretchCpuMs } = this.program.limits;
    this.watchdog.watch(Math.max(Math.min(stretchCpuMs, cpuMs - this.cpuMs), 0));
  }

  private end(cause: StopCause): void {
    if (this.state === 'over' || this.cause !== undefined) return;
    this.cause = cause;
    this.timers.pause();
    Atomics.store(this.thread.signals, SIGNAL.stop, 1);
    this.thread.post({ type: 'stop', cell: this.number });
    this.watchdog.watch(0);
  }

  private disobeyed(): void {
    const { cpuMs, stretchCpuMs } = this.program.limits;
    this.cause ??= cpuMs - this.cpuMs < stretchCpuMs ? 'cpu' : 'stretch';
    this.thread.kill(`a script did not obey: ${this.cause}`);
  }

  private finish(end: ScriptEnd, afterwards: () => void): void {
    this.state = 'over';
    clearTimeout(this.limit);
    this.watchdog.release();
    this.timers.pause();
    afterwards();
    this.conclude(this.toOutcome(end));
  }

  private toOutcome(end: ScriptEnd): CellOutcome {
    const { cpuMs } = this;
    const warnings = end.kind === 'stopped' ? [] : end.warnings.map(toWarning);
    const common = { warnings, cpuMs, openCalls: this.calls.ids };
    if (end.kind === 'completed') return { state: 'completed', writes: end.writes, ...common };
    if (end.kind === 'failed') {
      const { code, message, frames } = end;
      const failure = { code, message, ...(frames === '' ? {} : { frames }) };
      return { state: 'failed', failure, writes: end.writes, ...common };
    }
    const cause = this.cause ?? 'internal';
    if (cause === 'terminated') return { state: 'terminated', writes: [], ...common };
    return { state: 'failed', failure: failureOf(cause, this.program.limits), writes: [], ...common };
  }

  /** A listener that throws must not take the cell's thread with it. */
  private tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.onFault(error);
    }
  }
}

function toWarning(reason: string): CellWarning {
  return { code: 'unhandled_rejection', message: `unhandled promise rejection: ${reason}` };
}
