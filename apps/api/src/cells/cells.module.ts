import type { ApiConfig } from '#libs/config';
import { type Clock, MAX_YIELD_TIME_MS } from '#libs/core';
import { Doorbells } from '#libs/events';
import type { Offload } from '#libs/offload';
import { Database } from '#libs/persistence';
import { CellQueue } from '#libs/queue';
import { Events } from '#libs/telemetry';
import { Module } from '@nestjs/common';
import { ConversationLookupModule } from '../conversations/conversation-lookup.module.js';
import { ConversationResolver } from '../conversations/conversation-resolver.js';
import { API_CONFIG, CLOCK, OFFLOAD, PROCESS_ID } from '../tokens.js';
import { CellList } from './cell-list.js';
import { CellObserver } from './cell-observer.js';
import { CellStopper } from './cell-stopper.js';
import { CellsController } from './cells.controller.js';
import { CellsService } from './cells.service.js';
import { CollectedMarks } from './collected-marks.js';

/** Cells: start, observe, stop, list. */
@Module({
  imports: [ConversationLookupModule],
  controllers: [CellsController],
  providers: [
    {
      provide: CellObserver,
      inject: [Database, Doorbells, Events, CLOCK, PROCESS_ID],
      useFactory: (db: Database, doorbells: Doorbells, events: Events, clock: Clock, processId: string) =>
        new CellObserver(db, doorbells, events, clock, processId),
    },
    {
      provide: CellStopper,
      inject: [Doorbells, PROCESS_ID],
      useFactory: (doorbells: Doorbells, processId: string) => new CellStopper(doorbells, processId),
    },
    {
      provide: CollectedMarks,
      inject: [Database, Events],
      useFactory: (db: Database, events: Events) => new CollectedMarks(db, events),
    },
    {
      provide: CellList,
      inject: [Database, ConversationResolver],
      useFactory: (db: Database, conversations: ConversationResolver) => new CellList(db, conversations),
    },
    {
      provide: CellsService,
      inject: [
        API_CONFIG,
        Database,
        Events,
        CellQueue,
        CellObserver,
        CellStopper,
        CollectedMarks,
        ConversationResolver,
        OFFLOAD,
      ],
      useFactory: (
        { limits }: ApiConfig,
        db: Database,
        events: Events,
        queue: CellQueue,
        observer: CellObserver,
        stopper: CellStopper,
        marks: CollectedMarks,
        conversations: ConversationResolver,
        offload: Offload,
      ) => {
        const yieldTimeMs = Math.min(MAX_YIELD_TIME_MS, limits.maxObserveMs);
        const maxima = { yieldTimeMs, outputTokens: limits.maxOutputTokens };
        return new CellsService({ db, events, queue, observer, stopper, marks, conversations, offload, maxima });
      },
    },
  ],
  exports: [CellObserver, CellStopper, CellsService, CollectedMarks],
})
export class CellsModule {}
