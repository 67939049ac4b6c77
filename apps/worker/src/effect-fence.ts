import { UnavailableError } from '#libs/core';
import type { Events } from '#libs/telemetry';

/** A worker whose last heartbeat succeeded longer ago than this starts no effect, in ms. */
const FRESH_MS = 5_000;

/**
 * Keeps effects in while nobody can know whether this worker still counts as alive: others declare it lost after 10 s
 * without a heartbeat, so what it starts within 5 s of one is committed before that (9. Protocols, 12). What is held
 * back waits; it goes out with the next heartbeat that succeeds, or never when the worker was declared lost.
 */
export class EffectFence {
  #beatAt = -Infinity;
  #isHolding = false;

  constructor(
    private readonly events: Events,
    /** A clock that never goes back, in ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** When a heartbeat that is about to be sent begins; give it to {@link beaten} once it has succeeded. */
  beginning(): number {
    return this.now();
  }

  /** A heartbeat that began at this time has succeeded. */
  beaten(beganAt: number): void {
    this.#beatAt = Math.max(this.#beatAt, beganAt);
    this.#isHolding = false;
  }

  /** Throws a retryable error while no effect may start. */
  check(): void {
    if (this.now() - this.#beatAt <= FRESH_MS) return;
    const error = new UnavailableError('The heartbeat of this worker');
    if (!this.#isHolding) this.events.faulted('effects are held back until a heartbeat succeeds', error);
    this.#isHolding = true;
    throw error;
  }
}
