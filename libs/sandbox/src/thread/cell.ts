import type { JSValueConstPointer } from 'quickjs-emscripten';
import { failureOf, type StopCause } from '../failures.js';
import { SIGNAL, type ScriptEnd, type ToThread, type WakeUp } from '../protocol.js';
import type { ScriptState } from '../script-state.js';
import { CellCalls } from './cell-calls.js';
import { CellOutput } from './cell-output.js';
import { ScriptTimers } from './cell-timers.js';
import { END_MESSAGE_BYTES, parseEndMessage } from './end-message.js';
import { HostChannel, liveSource, type ScriptStart } from './channel.js';
import type { Guest } from './guest.js';
import { countLines, isFenced, wrapScript } from './guest-text.js';
import { EngineAbortError } from './imports.js';
import type { EngineResult, GuestHost } from './instance.js';
import { AS_JSON, KIND, OP } from './kinds.js';
import { LAYOUT } from './layout.js';
import type { Outbox } from './outbox.js';
import type { ToolView } from './tool-view.js';

type Start = Extract<ToThread, { type: 'start' }>;

/**
 * One script on one guest. States: running (inside `slice`), waiting (between slices), ended. CPU time is the time
 * that slices take on this thread: on a machine that is overloaded it includes the time in which the thread had no
 * core.
 */
export class ThreadCell implements GuestHost {
  private end: ScriptEnd | undefined;
  private cause: Exclude<StopCause, 'terminated'> | 'stopped' | undefined;
  private outOfMemory = false;
  private cpuMs = 0;
  private sliceStartedAt = 0;
  private readonly output: CellOutput;
  private readonly calls: CellCalls;
  private readonly timers: ScriptTimers;
  /** Why the thread must not serve again; null while it may. */
  private retire: string | null = null;

  constructor(
    private readonly given: Pick<Start, 'cell' | 'cpuMs' | 'stretchCpuMs'>,
    private readonly guest: Guest,
    private readonly signals: Int32Array,
    private readonly outbox: Outbox,
    view: ToolView,
    private readonly channel: HostChannel = new HostChannel(liveSource(signals, given)),
  ) {
    this.output = new CellOutput(given.cell, guest, outbox);
    this.calls = new CellCalls(given.cell, guest, outbox, view);
    this.timers = new ScriptTimers(given.cell, guest, outbox);
  }

  /** Runs the script until it ends or waits. True when it has ended. */
  start(given: ScriptStart): boolean {
    const { source, seed, values, dialect } = this.channel.start(given);
    return this.slice(() => {
      if (isFenced(source)) {
        this.end = fenced(source);
        return;
      }
      const script = { chars: source.length, lines: countLines(source) };
      this.entered(this.guest.receiveJson(OP.begin, JSON.stringify({ script, seed, values, dialect })));
      const compiled = this.guest.evaluate(wrapScript(source), 'script.js');
      if (this.isOver()) return;
      this.entered(
        compiled.ok ? this.guest.receive(OP.run, compiled.value) : this.guest.receive(OP.refuse, compiled.error),
      );
      this.pump();
    });
  }

  /** Settles calls and runs the callbacks of timers that are due, each followed by the jobs it made. True at the end. */
  resume(wakeUp: WakeUp): boolean {
    const { timers, results } = this.channel.resume(wakeUp);
    return this.slice(() => {
      for (const result of results) {
        if (this.isOver()) return;
        const message = this.calls.settle(result);
        if (message === undefined) continue;
        this.entered(this.guest.receiveText(OP.settle, message));
        this.pump();
      }
      for (const id of timers) {
        if (this.isOver()) return;
        if (!this.timers.take(id)) continue;
        this.entered(this.guest.receiveNumber(OP.timer, id));
        this.pump();
      }
    });
  }

  /** What must be kept with the memory of a waiting script, for `restore` on the thread where it goes on. */
  get state(): ScriptState {
    const { cpuMs, outOfMemory, output, calls, timers } = this;
    return { cpuMs, outOfMemory, ...output.state, ...calls.state, timers: timers.ids };
  }

  restore(state: ScriptState): void {
    this.cpuMs = state.cpuMs;
    this.outOfMemory = state.outOfMemory;
    for (const part of [this.output, this.calls, this.timers]) part.restore(state);
  }

  /** Ends a waiting script. */
  stop(): void {
    this.cause = 'stopped';
    this.finish();
  }

  onSend(kind: number, payload: JSValueConstPointer, chars: number): number | string | undefined {
    if (kind === KIND.isProxy) return this.guest.classOf(payload) === LAYOUT.proxyClass ? 1 : 0;
    // An interrupted script may still say something on its way out, such as that it failed by the interruption.
    if (this.isOver()) return undefined;
    switch (kind & ~AS_JSON) {
      case KIND.text:
        return this.output.add('text', kind, payload, chars);
      case KIND.console:
        return this.output.add('console', kind, payload, chars);
      case KIND.image:
        return this.output.media('image', payload, chars);
      case KIND.audio:
        return this.output.media('audio', payload, chars);
      case KIND.note:
        return this.output.note(kind, payload, chars);
      case KIND.boundary:
        if (Atomics.exchange(this.signals, SIGNAL.boundary, 0) === 1) {
          this.outbox.tell({ type: 'boundary', cell: this.given.cell, items: this.output.items });
        }
        return undefined;
      case KIND.timer:
      case KIND.untimer:
        return this.timers.receive(kind, payload);
      case KIND.end:
        return this.ended(payload);
      default:
        return this.calls.receive(kind, payload);
    }
  }

  shouldInterrupt(): boolean {
    if (this.isOver()) return true;
    this.outbox.flush();
    const usedMs = performance.now() - this.sliceStartedAt;
    this.cause = this.channel.interruption(usedMs, this.cpuMs + usedMs);
    return this.cause !== undefined;
  }

  clock(): number {
    return this.channel.clock();
  }

  exhausted(): void {
    this.outOfMemory = true;
  }

  onRejection(promise: bigint, reason: bigint, handled: boolean): void {
    if (!this.isOver()) this.guest.receiveRejection(handled ? OP.handled : OP.rejected, promise, reason);
  }

  private isOver(): boolean {
    return this.end !== undefined || this.cause !== undefined;
  }

  /** Nothing to run and nothing to wait for. After an exhausted memory the end message itself may be what is missing. */
  private isStalled(): boolean {
    if (this.isOver() || this.timers.arePending || this.calls.areOpen || this.channel.isStopped()) return false;
    if (this.outOfMemory) this.cause = 'memory';
    return !this.outOfMemory;
  }

  private slice(work: () => void): boolean {
    this.sliceStartedAt = performance.now();
    try {
      work();
      if (this.isStalled()) this.entered(this.guest.receiveNumber(OP.stalled, 0));
      if (!this.guest.engine.stackIsEmpty()) this.retire = 'the stack pointer has not come back';
    } catch (error) {
      this.retire = error instanceof Error ? `${error.name}: ${error.message}` : 'a value was thrown out of the engine';
      this.cause ??= this.outOfMemory ? 'memory' : 'internal';
    }
    this.cpuMs += performance.now() - this.sliceStartedAt;
    if (!this.isOver()) {
      if (this.channel.isStopped()) this.cause = 'stopped';
      else {
        this.outbox.tell({ type: 'waiting', cell: this.given.cell, cpuMs: this.cpuMs });
        return false;
      }
    }
    this.finish();
    return true;
  }

  private finish(): void {
    const { cell } = this.given;
    const end = this.end ?? this.endOfCause();
    this.end = end;
    this.outbox.tell({ type: 'ended', cell, end, cpuMs: this.cpuMs, retire: this.retire?.slice(0, 1_024) ?? null });
  }

  private endOfCause(): ScriptEnd {
    const { cause } = this;
    if (cause === undefined || cause === 'stopped') return { kind: 'stopped' };
    return { kind: 'failed', frames: '', writes: [], warnings: [], ...failureOf(cause, this.given) };
  }

  private pump(): void {
    if (this.isOver()) return;
    const pumped = this.guest.pump(() => !this.shouldInterrupt());
    if (pumped === 'failed' && !this.isOver()) this.cause = this.outOfMemory ? 'memory' : 'internal';
  }

  /** A call into the prelude must come back, unless the script was interrupted or has used up the memory.
   * Undefined: there was none left for the argument. */
  private entered(result: EngineResult | undefined): void {
    if (result === undefined) this.cause ??= 'memory';
    if (result === undefined || result.ok || this.isOver()) return;
    if (this.outOfMemory) this.cause = 'memory';
    else throw new EngineAbortError(`the prelude threw ${this.guest.dump(result.error).slice(0, 500)}`);
  }

  private ended(payload: JSValueConstPointer): undefined {
    const json = this.guest.textOf(payload, END_MESSAGE_BYTES);
    if (json === undefined) {
      this.cause = 'memory';
      return;
    }
    const { end, leaving } = parseEndMessage(json, this.outOfMemory);
    this.end = end;
    if (leaving) this.outbox.tell({ type: 'reached', cell: this.given.cell, end });
  }
}

function fenced(source: string): ScriptEnd {
  const line = countLines(source.slice(0, source.indexOf('```')));
  const message =
    'SyntaxError: the script is wrapped in a Markdown code fence (```). Send the JavaScript alone, without the fence.';
  return {
    kind: 'failed',
    code: 'syntax_error',
    message,
    frames: `    at script.js:${line}:1`,
    writes: [],
    warnings: [],
  };
}
