/** A worker whose last heartbeat succeeded longer ago starts no effect, in ms (9. Protocols, 12). */
const FRESH_MS = 5_000;
/** Between two looks while the heartbeat is late, in ms. */
const LOOK_MS = 100;

/** How long ago this worker's heartbeat last succeeded, by a clock that nobody sets. */
export class Lease {
  #renewedAt = -Infinity;

  /** A heartbeat that was sent at this time (`performance.now()`) has succeeded. */
  renewedAt(sentAt: number): void {
    this.#renewedAt = Math.max(this.#renewedAt, sentAt);
  }

  get isFresh(): boolean {
    return performance.now() - this.#renewedAt <= FRESH_MS;
  }

  /** Resolves when an effect may start, or when it is given up. */
  async mayAct(givenUp: () => boolean): Promise<void> {
    while (!this.isFresh && !givenUp()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
