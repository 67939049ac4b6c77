import { type Clock, type ConversationRef, NotFoundError, isPlatformName } from '#libs/core';
import { type ConversationRow, Database, findConversation, settleOldView } from '#libs/persistence';
import { viewOf } from '#libs/tools';
import { Inject, Injectable } from '@nestjs/common';
import { TtlCache } from '../http/ttl-cache.js';
import { CLOCK } from '../tokens.js';

/** A row that has changed since is noticed when a cell is inserted under it; this bounds how long others may see it. */
const ROW_TTL_MS = 5_000;
const MAX_ROWS = 10_000;

/** Finds conversations, and remembers for a few seconds those that there are. */
@Injectable()
export class ConversationResolver {
  readonly #cache: TtlCache<Readonly<ConversationRow>>;

  constructor(
    private readonly db: Database,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#cache = new TtlCache(clock, { ttlMs: ROW_TTL_MS, maxEntries: MAX_ROWS });
  }

  /** Throws NotFoundError, also for an id that no conversation can have. */
  async resolve(tenantId: string, conversationId: string): Promise<Readonly<ConversationRow>> {
    if (!isPlatformName(conversationId)) throw noConversation();
    const ref = { tenantId, conversationId };
    return this.#cache.get(keyOf(ref), async () => {
      const row = await findConversation(this.db, ref);
      if (!row) throw noConversation();
      return this.#withView(row);
    });
  }

  /**
   * As `resolve`, but as the row is now: for all that a stale epoch could show, where no insert checks it again.
   */
  async current(tenantId: string, conversationId: string): Promise<Readonly<ConversationRow>> {
    this.forget({ tenantId, conversationId });
    return this.resolve(tenantId, conversationId);
  }

  /** A conversation that was bound before there were views gets its view with the first look at it. */
  async #withView(row: ConversationRow): Promise<ConversationRow> {
    const view = row.view === null ? viewOf(row.toolsets) : undefined;
    if (!view) return row;
    await settleOldView(this.db, row, view);
    return { ...row, view: view.hash };
  }

  /** The next `resolve` reads the row. */
  forget(ref: ConversationRef): void {
    this.#cache.forget(keyOf(ref));
  }
}

function keyOf({ tenantId, conversationId }: ConversationRef): string {
  return `${tenantId}/${conversationId}`;
}

function noConversation(): NotFoundError {
  return new NotFoundError('There is no such conversation: create it with PUT first.');
}
