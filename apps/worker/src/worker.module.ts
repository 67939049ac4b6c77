import type { WorkerConfig } from '#libs/config';
import { newProcessId, systemClock } from '#libs/core';
import { Doorbells } from '#libs/events';
import { type Offload, createOffload } from '#libs/offload';
import { Database, upkeepStore, viewStore } from '#libs/persistence';
import { CellQueue, QueueModule } from '#libs/queue';
import { type SandboxRunner, createSandboxPool } from '#libs/sandbox';
import { Events, type Logger } from '#libs/telemetry';
import { ToolViews } from '#libs/tools';
import { Upkeep } from '#libs/upkeep';
import { type DynamicModule, Module } from '@nestjs/common';
import { CellProcessor } from './cell.processor.js';
import { HeldCells } from './held-cells.js';
import { Lease } from './lease.js';

/** The sandbox's threads. */
export const SANDBOX = Symbol('sandbox');
/** Threads that check arguments and results of tool calls. */
export const OFFLOAD = Symbol('offload');
/** The id of this start of this process. */
export const WORKER_ID = Symbol('worker id');

/** Wires the adapters of one worker process. In which order they start and end is in worker.ts. */
@Module({})
export class WorkerModule {
  static register(config: WorkerConfig, logger: Logger): DynamicModule {
    const workerId = newProcessId('worker');
    const events = new Events(logger);
    const { database, redis, slots, tracing } = config;
    return {
      module: WorkerModule,
      imports: [QueueModule.register({ url: redis.queueUrl, prefix: redis.prefix, role: 'consumer', tracing })],
      providers: [
        CellProcessor,
        Lease,
        { provide: WORKER_ID, useValue: workerId },
        { provide: Events, useValue: events },
        {
          provide: Database,
          useFactory: () =>
            new Database({
              ...database,
              applicationName: workerId,
              onConnectionLost: (err) => events.dependencyFailed({ dependency: 'postgres', err }),
            }),
        },
        {
          provide: Doorbells,
          useFactory: () =>
            new Doorbells({
              url: redis.url,
              prefix: redis.prefix,
              processId: workerId,
              onProblem: (what, err) => events.dependencyFailed({ dependency: 'redis', what, err }),
            }),
        },
        { provide: OFFLOAD, useFactory: () => createOffload({ threads: 1, logger }) },
        {
          provide: SANDBOX,
          useFactory: () =>
            createSandboxPool({
              slots,
              onThreadRetired: (reason) => events.threadRetired({ reason }),
              onFault: (err) => events.faulted('a sandbox thread misbehaved', err),
            }),
        },
        {
          provide: HeldCells,
          inject: [Database, Doorbells, SANDBOX, OFFLOAD, Lease],
          useFactory: (db: Database, doorbells: Doorbells, sandbox: SandboxRunner, offload: Offload, lease: Lease) => {
            const views = new ToolViews(viewStore(db), offload);
            return new HeldCells({ db, doorbells, events, offload, views, lease, workerId }, sandbox);
          },
        },
        {
          provide: Upkeep,
          inject: [Database, CellQueue, Doorbells],
          useFactory: (db: Database, queue: CellQueue, doorbells: Doorbells) =>
            new Upkeep({ store: upkeepStore(db), queue, doorbells, events, clock: systemClock }),
        },
      ],
    };
  }
}
