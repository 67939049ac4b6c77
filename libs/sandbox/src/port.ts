import type { CellFailure, CellWarning, Dialect, OutputItem, ValueWrite } from '#libs/core';
import type { ScriptState } from './script-state.js';

/** What the sandbox must know of a cell, also of one that goes on. Built by the worker from the cell's row. */
export interface CellBasis {
  cellId: string;
  /** Memory instances are bound to one tenant and never serve another. */
  tenantId: string;
  limits: CellLimits;
  /** The tools that the script may call; none when left out. One object per view: threads remember what they read. */
  view?: ProgramView;
}

/** A script that starts. */
export interface CellProgram extends CellBasis {
  dialect: Dialect;
  /** The script with its first line already replaced by an empty one, so that line numbers are the model's own. */
  source: string;
  /** The writer's values as of the cell's start: key -> JSON text. */
  values: ReadonlyMap<string, string>;
}

/**
 * A waiting script, taken out of its pool: all that is needed to go on in another one, in another process or on another
 * machine. `state` and `timers` are JSON; `packImage` makes one file of the image.
 */
export interface WaitingScript {
  image: ScriptImage;
  state: ScriptState;
  /** Timers that have not run, and in how many ms each is due. */
  timers: { id: number; inMs: number }[];
}

/** The memory of a waiting script. */
export interface ScriptImage {
  /** The base image that it stands on: only a pool of the same `imageVersion` can go on with it. */
  version: string;
  /** What the memory has that the base image has not. */
  changes: ArrayBuffer;
}

/** The tools of a view: what `packView` of libs/script makes. */
export interface ProgramView {
  readonly memory: SharedArrayBuffer;
}

/** A tool call that the script makes. Numbered from 1 within the cell. */
export interface ProgramCall {
  callId: number;
  identifier: string;
  /** A JSON object. */
  argumentsJson: string;
}

/** What a call comes to: the JSON of the value that it resolves to, or the text of the error that rejects it. */
export type CallResult = { ok: true; json: string } | { ok: false; message: string };

/** Budgets of one cell. Times in ms. */
export interface CellLimits {
  /** CPU time of the whole cell. */
  cpuMs: number;
  /** CPU time of one stretch without a wait. */
  stretchCpuMs: number;
  /** Time until the cell's own deadline (`timeout_ms`), counted from now; undefined: none. */
  deadlineInMs?: number;
  /** Time until the wall limit, counted from now. */
  wallInMs: number;
}

/** What a running cell tells while it runs. Calls come in the order of the script's own calls. */
export interface CellListener {
  /** New output. `items` continue the numbering of what came before. */
  output(items: readonly OutputItem[]): void;
  /**
   * `yield_control()`: the observer gets the first `items` items. Told at most once until `armBoundary` is called,
   * so a script that yields for ever floods nothing.
   */
  boundary(items: number): void;
  /** A tool call. At most `limits.callsUnderWay` are told and not settled at a time. */
  call(call: ProgramCall): void;
  /** `notify()`, within the limits of one cell. */
  note(text: string): void;
  /**
   * The script has nothing to run until a call settles or a timer is due; all that it did before was told. From here on
   * its thread may serve others meanwhile.
   */
  waiting(): void;
}

/** How a cell ended. The values are what the script wrote, merged per key; whether they are kept is decided later. */
export interface CellOutcome {
  state: 'completed' | 'failed' | 'terminated';
  failure?: CellFailure;
  writes: readonly ValueWrite[];
  warnings: readonly CellWarning[];
  /** Calls that were told and not settled, in the order of their start. */
  openCalls: readonly number[];
  /** CPU time used on the thread, in ms. */
  cpuMs: number;
}

/** Why a cell is stopped from outside. */
export type StopReason = 'terminated' | 'worker_draining';

/** A cell that has been started. */
export interface RunningCell {
  /** Settles exactly once and never rejects: every fault is an outcome. All output was told before it settles. */
  readonly outcome: Promise<CellOutcome>;
  /** Stops the script: the guest runs no more when `outcome` has settled (at most 250 ms and a thread's end later). */
  stop(reason: StopReason): void;
  /** Allows one more `boundary`: a new observer has come. */
  armBoundary(): void;
  /** Settles a call. One that is not open, or a cell that is over, changes nothing. */
  settle(callId: number, result: CallResult): void;
  /**
   * Takes the script out, to go on elsewhere by `Slot.resume`: it is over here, and `outcome` never settles. Undefined,
   * and nothing has changed, when it does not wait: it runs, has something to run, or has ended.
   */
  takeOut(): Promise<WaitingScript | undefined>;
}

/** A free thread, held until disposed of. */
export interface Slot extends Disposable {
  /** Starts a script on this thread. At most one per slot. The slot frees itself when the outcome has settled. */
  start(program: CellProgram, listener: CellListener): RunningCell;
  /**
   * Goes on with a script that was taken out, in the same way. Throws a RangeError when the image has another version
   * than this pool. Bytes that are damaged end that cell and harm no other.
   */
  resume(basis: CellBasis, script: WaitingScript, listener: CellListener): RunningCell;
}

/** Counts of threads by what they are doing. */
export interface PoolStats {
  threads: number;
  idle: number;
  busy: number;
  retiring: number;
  respawning: number;
  /** Callers of `acquire` that wait. */
  waiting: number;
  /** Scripts that wait with no thread of their own. */
  hibernated: number;
  /** Bytes of their memory. */
  hibernatedBytes: number;
}

/** The port between the worker and the sandbox. */
export interface SandboxRunner extends AsyncDisposable {
  /** SHA-256 of the base image that scripts start from. */
  readonly imageVersion: string;
  /** A free thread; callers are served in the order of asking. Rejects with the signal's reason when it aborts. */
  acquire(signal?: AbortSignal): Promise<Slot>;
  stats(): PoolStats;
}
