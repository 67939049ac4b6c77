import type { CellList as CellListBody, ListCellsQuery } from '#libs/contracts';
import { type ConversationRef, InvalidRequestError, isCellId } from '#libs/core';
import { type Database, type ListCursor, type ListedCell, listCells } from '#libs/persistence';
import type { ConversationResolver } from '../conversations/conversation-resolver.js';
import { ownerIn } from './cells.service.js';

const DEFAULT_LIMIT = 50;

/** Pages of a writer's cells. */
export class CellList {
  constructor(
    private readonly db: Database,
    private readonly conversations: ConversationResolver,
  ) {}

  async page(ref: ConversationRef, query: ListCellsQuery): Promise<CellListBody> {
    const conversation = await this.conversations.current(ref.tenantId, ref.conversationId);
    const owner = ownerIn(conversation, query.memberId);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const found = await listCells(this.db, owner, limit + 1, after);
    const cells = found.slice(0, limit);
    const last = cells.at(-1);
    return {
      cells: cells.map(toListed),
      ...(found.length > limit && last ? { next: toCursor(last) } : {}),
    };
  }
}

function toListed(cell: ListedCell): CellListBody['cells'][number] {
  const { cellId, dialect, state, createdAt, startedAt, endedAt, failure } = cell;
  return {
    cellId,
    dialect,
    state,
    createdAt: createdAt.toISOString(),
    ...(startedAt && { startedAt: startedAt.toISOString() }),
    ...(endedAt && { endedAt: endedAt.toISOString() }),
    ...(failure && { error: { code: failure.code, message: failure.message } }),
  };
}

function toCursor({ createdAt, cellId }: ListedCell): string {
  return Buffer.from(`${createdAt.getTime()}.${cellId}`).toString('base64url');
}

function parseCursor(cursor: string): ListCursor {
  const [time = '', cellId = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  if (!/^\d{1,15}$/.test(time) || !isCellId(cellId)) {
    throw new InvalidRequestError(`The cursor ${JSON.stringify(cursor)} is not one that a page gave in "next".`);
  }
  return { createdAt: new Date(Number(time)), cellId };
}
