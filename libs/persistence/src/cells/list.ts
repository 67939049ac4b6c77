import type { CellFailure, CellState, Dialect, Owner } from '#libs/core';
import type { Database } from '../database.js';
import { toFailure } from './rows.js';

/** A cell in its owner's list. Closed cells are listed until they are removed. */
export interface ListedCell {
  cellId: string;
  dialect: Dialect;
  state: CellState;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  failure?: CellFailure;
}

/** Where a page starts: after this cell. */
export interface ListCursor {
  createdAt: Date;
  cellId: string;
}

/** One page of a writer's cells, newest first. Collects nothing. */
export async function listCells(db: Database, owner: Owner, limit: number, after?: ListCursor): Promise<ListedCell[]> {
  const { tenantId, conversationId, epoch, writer } = owner;
  const rows = await db.prisma.cell.findMany({
    where: {
      tenantId,
      conversationId,
      epoch,
      writer,
      ...(after && {
        OR: [{ createdAt: { lt: after.createdAt } }, { createdAt: after.createdAt, id: { gt: after.cellId } }],
      }),
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    take: limit,
    select: {
      id: true,
      dialect: true,
      state: true,
      createdAt: true,
      startedAt: true,
      endedAt: true,
      errorCode: true,
      error: true,
    },
  });
  return rows.map((row) => ({
    cellId: row.id,
    dialect: row.dialect as Dialect,
    state: row.state as CellState,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    ...(row.errorCode === null ? {} : { failure: toFailure(row.errorCode as CellFailure['code'], row.error) }),
  }));
}
