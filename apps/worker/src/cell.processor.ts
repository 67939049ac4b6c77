import { type CellJob, cellJobSchema } from '#libs/contracts';
import { CELL_QUEUE, consumerOptions } from '#libs/queue';
import { Events } from '#libs/telemetry';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { HeldCells } from './held-cells.js';

/** Takes jobs. A job is one stretch of a cell; its outcome is in Postgres, never in the job. */
@Processor(CELL_QUEUE, consumerOptions)
export class CellProcessor extends WorkerHost {
  constructor(
    private readonly cells: HeldCells,
    private readonly events: Events,
  ) {
    super();
  }

  async process(job: Job<CellJob>): Promise<object> {
    await this.cells.run(cellJobSchema.parse(job.data));
    return {};
  }

  /** Begins to take jobs, as many at a time as there are threads. */
  start(slots: number): void {
    this.worker.concurrency = slots;
    this.worker.run().catch((cause: unknown) => this.events.faulted('the queue is no longer consumed', cause));
  }

  /** Takes no more jobs; those under way go on. */
  pause(): Promise<void> {
    return this.worker.pause(true);
  }

  /** Ends the consumer. Without Redis it cannot say farewell, and is ended by force: its connection would try for ever. */
  async stop(redisAnswers: boolean): Promise<void> {
    await this.worker.close(!redisAnswers);
  }

  @OnWorkerEvent('failed')
  failed(job: Job<CellJob> | undefined, cause: Error): void {
    this.events.faulted('a job failed; the sweeper adds it again if its cell is still queued', cause, {
      jobId: job?.id,
    });
  }

  @OnWorkerEvent('error')
  error(cause: Error): void {
    this.events.faulted('the consumer of the queue', cause);
  }
}
