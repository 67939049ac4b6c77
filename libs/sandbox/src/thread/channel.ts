import { SIGNAL, type ToThread, type WakeUp } from '../protocol.js';

/** What a script starts with. */
export type ScriptStart = Pick<Extract<ToThread, { type: 'start' }>, 'source' | 'seed' | 'values' | 'dialect'>;

/** Why a running script must end. */
export type Interruption = 'stopped' | 'stretch' | 'cpu';

/** Where that comes from which a script cannot foresee. */
export interface ChannelSource {
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Asked often while the script runs: `sliceMs` of CPU time since it last waited, `totalMs` in all. */
  interruption(sliceMs: number, totalMs: number): Interruption | undefined;
  /** Whether somebody has asked for the end. */
  isStopped(): boolean;
}

/** One thing that came in. Questions whose answer is the usual one (go on) are counted and not told. */
export type Crossing = { number: number } & (
  | { kind: 'start'; start: ScriptStart }
  | { kind: 'resume'; wakeUp: WakeUp }
  | { kind: 'clock'; ms: number }
  | { kind: 'interruption'; cause: Interruption }
  | { kind: 'stopped' }
);

/**
 * The one way by which anything that is not deterministic reaches a script: what it starts with (its seed and values
 * among it), results of calls and timers in their order, the clock, and interruptions. Every crossing has a number, so
 * a run whose crossings are kept can be played again: the same numbers give the same run.
 */
export class HostChannel {
  private crossings = 0;

  /** `keep` is told what came in, for a record. */
  constructor(
    private readonly source: ChannelSource,
    private readonly keep: (crossing: Crossing) => void = () => undefined,
  ) {}

  start(start: ScriptStart): ScriptStart {
    this.keep({ number: this.next(), kind: 'start', start });
    return start;
  }

  resume(wakeUp: WakeUp): WakeUp {
    this.keep({ number: this.next(), kind: 'resume', wakeUp });
    return wakeUp;
  }

  clock(): number {
    const number = this.next();
    const ms = this.source.clock();
    this.keep({ number, kind: 'clock', ms });
    return ms;
  }

  interruption(sliceMs: number, totalMs: number): Interruption | undefined {
    const number = this.next();
    const cause = this.source.interruption(sliceMs, totalMs);
    if (cause !== undefined) this.keep({ number, kind: 'interruption', cause });
    return cause;
  }

  isStopped(): boolean {
    const number = this.next();
    const isStopped = this.source.isStopped();
    if (isStopped) this.keep({ number, kind: 'stopped' });
    return isStopped;
  }

  private next(): number {
    this.crossings += 1;
    return this.crossings;
  }
}

/** The source of a thread: the system's clock, the shared word, and the cell's budgets of CPU time in ms. */
export function liveSource(signals: Int32Array, budget: { cpuMs: number; stretchCpuMs: number }): ChannelSource {
  const isStopped = (): boolean => Atomics.load(signals, SIGNAL.stop) === 1;
  return {
    clock: () => Date.now(),
    isStopped,
    interruption(sliceMs, totalMs) {
      if (isStopped()) return 'stopped';
      if (sliceMs > budget.stretchCpuMs) return 'stretch';
      return totalMs > budget.cpuMs ? 'cpu' : undefined;
    },
  };
}
