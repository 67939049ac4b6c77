/** Longest time that a timer of Node keeps; later ones are looked at again then. */
const LONGEST_DELAY_MS = 2_147_483_647;

/**
 * The timers of one cell, kept outside of its thread so that a waiting script is only bytes. `due` is told the ids of
 * all timers that are due, earliest first, and only between `start` and `pause`: while the script runs nothing fires.
 * Times are monotonic.
 */
export class CellTimers {
  private readonly pending = new Map<number, number>();
  private alarm: NodeJS.Timeout | undefined;

  constructor(private readonly due: (ids: number[]) => void) {}

  /** Adds a timer of the script. */
  add(id: number, delayMs: number): void {
    this.pending.set(id, performance.now() + delayMs);
  }

  /** Forgets a timer. */
  delete(id: number): void {
    this.pending.delete(id);
  }

  /** What is pending, and in how many ms each is due (0: it is). */
  get pendingIn(): { id: number; inMs: number }[] {
    const now = performance.now();
    return [...this.pending].map(([id, at]) => ({ id, inMs: Math.max(0, at - now) }));
  }

  /** The script waits: tells what is due, now or when the time comes. */
  start(): void {
    const now = performance.now();
    const ready = [...this.pending].filter(([, at]) => at <= now);
    if (ready.length > 0) {
      ready.sort(([a, atA], [b, atB]) => atA - atB || a - b);
      for (const [id] of ready) this.pending.delete(id);
      this.due(ready.map(([id]) => id));
      return;
    }
    if (this.pending.size === 0) return;
    const next = Math.min(...this.pending.values());
    this.alarm = setTimeout(() => this.start(), Math.min(Math.ceil(next - now), LONGEST_DELAY_MS));
  }

  /** Nothing is told any more until `start`. */
  pause(): void {
    clearTimeout(this.alarm);
    this.alarm = undefined;
  }
}
