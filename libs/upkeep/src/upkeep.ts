import type { Clock } from '#libs/core';
import type { Events } from '#libs/telemetry';
import { type Heartbeat, Reaper } from './reaper.js';

/** A cell that was ended here, and who is observing it. */
export interface EndedCell {
  cellId: string;
  observer: string | null;
}

/** The statements of the upkeep; libs/persistence has them. */
export interface UpkeepStore {
  /** Ends queued cells that no worker took in time. */
  endUnclaimed(): Promise<EndedCell[]>;
  /** Queued cells whose jobs may be gone. */
  findLongQueued(): Promise<{ cellId: string; stretch: number }[]>;
  readHeartbeats(): Promise<Heartbeat[]>;
  /** Removes a worker whose heartbeat still stands at `atBeat`. */
  removeWorker(workerId: string, atBeat: number): Promise<void>;
  /** Ends running cells whose worker's row is gone. */
  endOrphans(): Promise<EndedCell[]>;
}

/** What the upkeep works with. Adapters do not know each other, so an app hands them in. */
export interface UpkeepParts {
  store: UpkeepStore;
  queue: { add(job: { cellId: string; stretch: number }): Promise<void> };
  doorbells: { ringObserver(cellId: string, observer: string): void };
  events: Events;
  clock: Clock;
}

/** Between two rounds, in ms. */
const ROUND_MS = 1_000;

/**
 * What every API process and every worker does once a second, so that it is done when any process lives: end cells that
 * nobody took, add jobs that are missing, declare workers lost and end their cells. Each part works on its own: one
 * that fails is tried again in the next round.
 */
export class Upkeep implements AsyncDisposable {
  readonly #parts: UpkeepParts;
  readonly #reaper = new Reaper();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /** Begins the rounds; they end with the disposal. */
  start(): void {
    this.#schedule();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** One round; never rejects. */
  async round(): Promise<void> {
    await Promise.all([
      this.#part('unclaimed cells were not ended', () => this.#sweepUnclaimed()),
      this.#part('missing jobs were not added', () => this.#sweepQueued()),
      this.#part('lost workers were not looked for', () => this.#reap()),
    ]);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.round().then(() => this.#schedule());
    }, ROUND_MS);
  }

  async #sweepUnclaimed(): Promise<void> {
    this.#tell('no_worker', await this.#parts.store.endUnclaimed());
  }

  async #sweepQueued(): Promise<void> {
    const { store, queue } = this.#parts;
    for (const job of await store.findLongQueued()) await queue.add(job);
  }

  async #reap(): Promise<void> {
    const { store, events, clock } = this.#parts;
    const heartbeats = await store.readHeartbeats();
    for (const { workerId, beat } of this.#reaper.read(heartbeats, clock.monotonic())) {
      await store.removeWorker(workerId, beat);
      events.workerLost({ workerId });
    }
    this.#tell('worker_lost', await store.endOrphans());
  }

  #tell(kind: 'no_worker' | 'worker_lost', cells: readonly EndedCell[]): void {
    if (cells.length === 0) return;
    const { doorbells, events } = this.#parts;
    events.swept({ kind, count: cells.length, cellIds: cells.map((cell) => cell.cellId) });
    for (const { cellId, observer } of cells) if (observer !== null) doorbells.ringObserver(cellId, observer);
  }

  async #part(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      this.#parts.events.faulted(what, cause);
    }
  }
}
