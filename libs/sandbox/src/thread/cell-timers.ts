import type { JSValueConstPointer } from 'quickjs-emscripten';
import { limits } from '#libs/core';
import type { ScriptState } from '../script-state.js';
import type { Guest } from './guest.js';
import { EngineAbortError } from './imports.js';
import { KIND } from './kinds.js';
import type { Outbox } from './outbox.js';

const MESSAGE_BYTES = 256;

/** The pending timers of one script, on its thread: the main side keeps the time. */
export class ScriptTimers {
  private readonly pending = new Set<number>();

  constructor(
    private readonly cell: number,
    private readonly guest: Guest,
    private readonly outbox: Outbox,
  ) {}

  /** Timers that have not run, for an image; `restore` takes them back. */
  get ids(): number[] {
    return [...this.pending];
  }

  restore({ timers }: ScriptState): void {
    for (const id of timers) this.pending.add(id);
  }

  /** Whether the script waits for a timer. */
  get arePending(): boolean {
    return this.pending.size > 0;
  }

  /** A timer is due. False when it has been cleared. */
  take(id: number): boolean {
    return this.pending.delete(id);
  }

  /** Takes a timer that was set or cleared. */
  receive(kind: number, payload: JSValueConstPointer): undefined {
    const [id, delayMs] = this.numbers(payload);
    if (kind === KIND.untimer) {
      if (id !== undefined && this.pending.delete(id)) this.outbox.tell({ type: 'untimer', cell: this.cell, id });
      return;
    }
    if (id === undefined || delayMs === undefined || this.pending.size >= limits.pendingTimers) {
      throw new EngineAbortError('an unusable timer');
    }
    this.pending.add(id);
    this.outbox.tell({ type: 'timer', cell: this.cell, id, delayMs });
  }

  private numbers(payload: JSValueConstPointer): number[] {
    const parsed = JSON.parse(this.guest.textOf(payload, MESSAGE_BYTES) ?? '[]') as unknown;
    if (!Array.isArray(parsed) || !parsed.every((part): part is number => typeof part === 'number')) {
      throw new EngineAbortError('an unreadable message');
    }
    return parsed;
  }
}
