import { type Database, beatWorker, registerWorker, removeWorker } from '#libs/persistence';
import type { Events } from '#libs/telemetry';
import type { Lease } from './lease.js';

/** Between two beats, in ms. */
const BEAT_MS = 1_000;

/**
 * Keeps the worker's row alive. When the row is gone, others have declared this worker lost and ended its cells: it
 * must not go on, and `lost` is called.
 */
export class Heartbeat implements AsyncDisposable {
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(
    private readonly db: Database,
    private readonly events: Events,
    private readonly workerId: string,
    private readonly lease: Lease,
    private readonly lost: () => void,
  ) {
    this.#schedule();
  }

  /** Adds the row, from which time on the worker may claim cells, and begins to beat. */
  static async start(
    db: Database,
    events: Events,
    worker: { workerId: string; slots: number; imageVersion: string },
    lease: Lease,
    lost: () => void,
  ): Promise<Heartbeat> {
    const sentAt = performance.now();
    await registerWorker(db, worker);
    lease.renewedAt(sentAt);
    return new Heartbeat(db, events, worker.workerId, lease, lost);
  }

  /** Stops beating and removes the row. The worker must have no running cell. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await removeWorker(this.db, this.workerId).catch((cause: unknown) =>
      this.events.faulted('the row of this worker was not removed', cause),
    );
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat().then(() => this.#schedule());
    }, BEAT_MS);
  }

  async #beat(): Promise<void> {
    const sentAt = performance.now();
    try {
      if (await beatWorker(this.db, this.workerId)) {
        this.lease.renewedAt(sentAt);
        return;
      }
      this.#stopped = true;
      this.lost();
    } catch (cause) {
      this.events.faulted('the heartbeat was not written', cause);
    }
  }
}
