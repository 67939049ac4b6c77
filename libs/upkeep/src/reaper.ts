import { limits } from '#libs/core';

/** A worker's heartbeat as it was read. */
export interface Heartbeat {
  workerId: string;
  beat: number;
}

/** Reads further apart than this say nothing about the time between them, in ms. */
const MAX_GAP_MS = 2_000;

interface Watched {
  beat: number;
  /** When this beat was first seen (monotonic ms). */
  since: number;
}

/**
 * Decides which workers are lost: those whose heartbeat this process itself saw unchanged for 10 s, in successful reads
 * never over 2 s apart. A gap, such as an outage of Postgres, starts the 10 s anew, or all workers would be lost when
 * it comes back (9. Protocols, 13).
 */
export class Reaper {
  readonly #watched = new Map<string, Watched>();
  #lastRead: number | undefined;

  /** Takes one successful read at `at` (monotonic ms); returns the heartbeats that have stood still for too long. */
  read(heartbeats: readonly Heartbeat[], at: number): Heartbeat[] {
    const gap = this.#lastRead === undefined || at - this.#lastRead > MAX_GAP_MS;
    this.#lastRead = at;
    const present = new Set(heartbeats.map((heartbeat) => heartbeat.workerId));
    for (const id of this.#watched.keys()) if (!present.has(id)) this.#watched.delete(id);
    return heartbeats.filter(({ workerId, beat }) => {
      const watched = this.#watched.get(workerId);
      if (gap || watched?.beat !== beat) {
        this.#watched.set(workerId, { beat, since: at });
        return false;
      }
      return at - watched.since >= limits.workerLostMs;
    });
  }
}
