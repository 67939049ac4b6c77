import type { CellJob } from '#libs/contracts';
import { UnavailableError } from '#libs/core';
import type { Queue } from 'bullmq';
import { setTimeout as delay } from 'node:timers/promises';

/** The one queue of cells. */
export const CELL_QUEUE = 'cells';

/** How long an `add` may take before Redis counts as away, in ms. */
const ADD_TIMEOUT_MS = 2_000;
/** How long the farewell to Redis may take, in ms. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Adds jobs. A job carries ids only; the row in Postgres is the truth, so a lost or doubled job harms nothing. */
export class CellQueue implements AsyncDisposable {
  readonly #queue: Queue<CellJob>;

  constructor(queue: Queue<CellJob>) {
    this.#queue = queue;
  }

  /**
   * Adds the job of one stretch. A second add of the same stretch is dropped by BullMQ.
   * Throws {@link UnavailableError} when Redis does not take it in time; it may be there all the same.
   */
  async add(job: CellJob): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new UnavailableError('Redis')), ADD_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.#queue.add('cell', job, { jobId: `${job.cellId}-${job.stretch}` }), late]);
    } catch (cause) {
      throw cause instanceof UnavailableError ? cause : new UnavailableError('Redis', { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects with {@link UnavailableError} when Redis does not answer. */
  async ping(): Promise<void> {
    try {
      await this.#queue.count();
    } catch (cause) {
      throw new UnavailableError('Redis', { cause });
    }
  }

  /**
   * Lets the connection go. Without Redis BullMQ can say no farewell, and its connection would go on trying, and so
   * keep the process, for ever: then it is dropped.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#queue.close().then(
      () => true,
      () => false,
    );
    if (await Promise.race([closed, delay(CLOSE_TIMEOUT_MS, false, { ref: false })])) return;
    // Not awaited: a connection that is not there never says that it has ended.
    void this.#queue.disconnect().catch(() => undefined);
  }
}
