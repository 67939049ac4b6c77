/** How long a script may ignore a stop before its thread is killed, in ms. */
export const OBEY_MS = 250;

/**
 * Watches one thread from outside, because some built-ins of the engine never ask whether to stop. `watch` gives a
 * slice its time; `kill` is called when the slice is still running then, or when a stop was not obeyed.
 */
export class Watchdog {
  private alarm: NodeJS.Timeout | undefined;

  constructor(private readonly kill: () => void) {}

  /** Expects `release` within `limitMs` and the time to obey. Replaces what was expected before. */
  watch(limitMs: number): void {
    clearTimeout(this.alarm);
    this.alarm = setTimeout(() => this.lookAgain(), limitMs + OBEY_MS);
  }

  /** The thread has answered. */
  release(): void {
    clearTimeout(this.alarm);
    this.alarm = undefined;
  }

  /** When this process itself was late, the answer may lie in the queue already: let one turn of the loop pass. */
  private lookAgain(): void {
    const alarm = this.alarm;
    setImmediate(() =>
      setImmediate(() => {
        if (this.alarm === alarm && alarm !== undefined) this.kill();
      }),
    );
  }
}
