import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Queue, Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { CELL_QUEUE, CellQueue } from './cell-queue.js';

/** How a process uses the queue. */
export interface QueueOptions {
  /** Redis of the queue. */
  url: string;
  /** Prefix of all keys, with a hash tag, so that one queue stays in one slot of a Redis Cluster. */
  prefix: string;
  /** A producer fails fast while Redis is away; a consumer waits for it. */
  role: 'producer' | 'consumer';
  /** Spans over the queue: one trace from the request to the worker. */
  tracing: boolean;
  /** Told of what goes wrong with the connection; it mends itself. */
  onProblem?: (what: string, cause: unknown) => void;
}

/**
 * The queue of cells as Nest providers: `CellQueue` to add jobs, and the registration that `@Processor(CELL_QUEUE)`
 * consumes with. Finished and failed jobs are removed at once and never tried again: the sweeper adds what is missing.
 */
@Module({})
export class QueueModule {
  static register(options: QueueOptions): DynamicModule {
    const telemetry = options.tracing ? (new BullMQOtel({ tracerName: 'cellar' }) as Telemetry<unknown>) : undefined;
    const patience =
      options.role === 'producer'
        ? { maxRetriesPerRequest: 1, enableOfflineQueue: false }
        : { maxRetriesPerRequest: null };
    const queue = BullModule.registerQueue({
      name: CELL_QUEUE,
      connection: { url: options.url, ...patience, retryStrategy: (times: number) => Math.min(50 * times, 1_000) },
      prefix: options.prefix,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      ...(telemetry && { telemetry }),
    });
    return {
      module: QueueModule,
      imports: [queue],
      providers: [
        {
          provide: CellQueue,
          inject: [getQueueToken(CELL_QUEUE)],
          useFactory: (q: Queue) => new CellQueue(listening(q, options)),
        },
      ],
      exports: [queue, CellQueue],
    };
  }
}

/** A queue that nobody listens to writes its errors to the console. */
function listening(queue: Queue, { onProblem }: QueueOptions): Queue {
  queue.on('error', (cause) => onProblem?.('the connection of the queue broke', cause));
  return queue;
}

/** How workers consume (6. Architecture): short locks, so that a dead worker's job is seen soon; started by hand. */
export const consumerOptions = {
  autorun: false,
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1,
} as const;
