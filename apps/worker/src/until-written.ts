import { CellarError } from '#libs/core';
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between attempts while Postgres is away, in ms: from the first to the last. */
const RETRY_MS = [100, 250, 500, 1_000, 2_000];

/**
 * Tries again for as long as Postgres is away: what a cell has reached is not given up. Undefined when it is given up
 * all the same, since this worker counts as lost.
 */
export async function untilWritten<Result>(
  write: () => Promise<Result>,
  givenUp: () => boolean,
): Promise<Result | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write();
    } catch (cause) {
      if (givenUp()) return undefined;
      if (!(cause instanceof CellarError) || !cause.retryable) throw cause;
      await delay(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
    }
  }
}
