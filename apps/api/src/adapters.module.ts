import type { ApiConfig } from '#libs/config';
import { newProcessId, systemClock } from '#libs/core';
import { Doorbells } from '#libs/events';
import { createOffload } from '#libs/offload';
import { Database, upkeepStore } from '#libs/persistence';
import { CellQueue, QueueModule } from '#libs/queue';
import { Events, type Logger } from '#libs/telemetry';
import { Upkeep } from '#libs/upkeep';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { API_CONFIG, CLOCK, LOGGER, OFFLOAD, PROCESS_ID } from './tokens.js';

/** Threads that format large outputs: few, since small ones are formatted in place. */
const FORMAT_THREADS = 2;

/**
 * The adapters of this process, one of each, for all modules. They are made by factories, so that the OpenAPI document
 * can be written without any of them. Who ends them, and in which order, is in api.ts.
 */
@Global()
@Module({})
export class AdaptersModule {
  static register(config: ApiConfig, logger: Logger): DynamicModule {
    const { redis, database, tracing } = config;
    const processId = newProcessId('api');
    const events = new Events(logger);
    const providers = [
      { provide: API_CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: PROCESS_ID, useValue: processId },
      { provide: CLOCK, useValue: systemClock },
      { provide: Events, useValue: events },
      { provide: OFFLOAD, useFactory: () => createOffload({ threads: FORMAT_THREADS, logger }) },
      {
        provide: Database,
        useFactory: () =>
          new Database({
            ...database,
            applicationName: processId,
            onConnectionLost: (err) => events.dependencyFailed({ dependency: 'postgres', err }),
          }),
      },
      {
        provide: Doorbells,
        useFactory: () =>
          new Doorbells({
            url: redis.url,
            prefix: redis.prefix,
            processId,
            onProblem: (what, cause) => events.faulted(what, cause),
          }),
      },
      {
        provide: Upkeep,
        inject: [Database, CellQueue, Doorbells],
        useFactory: (db: Database, queue: CellQueue, doorbells: Doorbells) =>
          new Upkeep({ store: upkeepStore(db), queue, doorbells, events, clock: systemClock }),
      },
    ];
    const queue = QueueModule.register({
      url: redis.queueUrl,
      prefix: redis.prefix,
      role: 'producer',
      tracing,
      onProblem: (what, cause) => events.faulted(what, cause),
    });
    return { module: AdaptersModule, imports: [queue], providers, exports: [...providers, queue] };
  }
}
