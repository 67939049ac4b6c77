import type { Clock } from '#libs/core';
import { type Heartbeat, Reaper } from './reaper.js';

/** A cell that was ended here, and who is observing it. */
export interface EndedCell {
  cellId: string;
  observer: string | null;
}

/** What the upkeep needs of Postgres, the queue and the doorbells. An app wires it. */
export interface UpkeepPorts {
  endUnclaimed(): Promise<EndedCell[]>;
  findLongQueued(): Promise<{ cellId: string; stretch: number }[]>;
  readHeartbeats(): Promise<Heartbeat[]>;
  removeWorker(workerId: string, atBeat: number): Promise<void>;
  endOrphans(): Promise<EndedCell[]>;
  enqueue(job: { cellId: string; stretch: number }): Promise<void>;
  tellObserver(cell: EndedCell): void;
  /** Told of each worker that was declared lost and the number of cells that ended with it. */
  workerLost(workerId: string): void;
  cellsEnded(code: 'no_worker' | 'worker_lost', cells: readonly EndedCell[]): void;
  problem(what: string, cause: unknown): void;
}

/** Between two rounds, in ms. */
const ROUND_MS = 1_000;

/**
 * What every API process and every worker does once a second, so that it is done when any process lives: end cells that
 * nobody took, add jobs that are missing, declare workers lost and end their cells. Each part works on its own: one
 * that fails is tried again in the next round.
 */
export class Upkeep implements AsyncDisposable {
  readonly #ports: UpkeepPorts;
  readonly #clock: Clock;
  readonly #reaper = new Reaper();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(ports: UpkeepPorts, clock: Clock) {
    this.#ports = ports;
    this.#clock = clock;
  }

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
      this.#part('end unclaimed cells', () => this.#sweepUnclaimed()),
      this.#part('add missing jobs', () => this.#sweepQueued()),
      this.#part('reap lost workers', () => this.#reap()),
    ]);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.round().then(() => this.#schedule());
    }, ROUND_MS);
    this.#timer.unref();
  }

  async #sweepUnclaimed(): Promise<void> {
    this.#tell('no_worker', await this.#ports.endUnclaimed());
  }

  async #sweepQueued(): Promise<void> {
    for (const job of await this.#ports.findLongQueued()) await this.#ports.enqueue(job);
  }

  async #reap(): Promise<void> {
    const heartbeats = await this.#ports.readHeartbeats();
    for (const { workerId, beat } of this.#reaper.read(heartbeats, this.#clock.monotonic())) {
      await this.#ports.removeWorker(workerId, beat);
      this.#ports.workerLost(workerId);
    }
    this.#tell('worker_lost', await this.#ports.endOrphans());
  }

  #tell(code: 'no_worker' | 'worker_lost', cells: readonly EndedCell[]): void {
    if (cells.length === 0) return;
    this.#ports.cellsEnded(code, cells);
    for (const cell of cells) this.#ports.tellObserver(cell);
  }

  async #part(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      this.#ports.problem(what, cause);
    }
  }
}
