import { type Dialect, type Owner, limits } from '#libs/core';
import type { Database } from '../database.js';
import type { CellOptions } from './rows.js';

/** A cell that is about to exist. Times in ms from now. */
export interface NewCell {
  cellId: string;
  owner: Owner;
  /** Version of the conversation's row that the request was resolved with. */
  conversationVersion: number;
  memberId?: string;
  branchId: string;
  dialect: Dialect;
  /** The script, its first line removed. */
  source: string;
  options: CellOptions;
  observer: string;
  yieldInMs: number;
  deadlineInMs?: number;
}

const insert = {
  name: 'cell-insert',
  text: `
    INSERT INTO cells (id, tenant_id, conversation_id, epoch, writer, member_id, branch_id, dialect, source, options,
                       observer, observer_until, yield_at, deadline_at, wake_at, view)
    SELECT $1, c.tenant_id, c.id, c.epoch, $6, $7, b.id, $9, $10, $11,
           $12, now() + $13 * interval '1 ms', now() + $14 * interval '1 ms', now() + $15::float8 * interval '1 ms',
           now() + least($16::float8, $15::float8) * interval '1 ms', c.view
    FROM conversations c
    JOIN branches b ON b.tenant_id = c.tenant_id AND b.conversation_id = c.id AND b.epoch = c.epoch AND b.id = $8
    WHERE c.tenant_id = $2 AND c.id = $3 AND c.epoch = $4 AND c.version = $5 AND c.deleted_at IS NULL
    FOR SHARE OF c
    RETURNING id`,
};

/**
 * Inserts a queued cell under its conversation's current epoch (9. Protocols, 10), with the view of now. Commits asynchronously. False when
 * the conversation is not as it was resolved, or the branch does not exist.
 */
export async function insertCell(db: Database, cell: NewCell): Promise<boolean> {
  const { owner } = cell;
  const rows = await db.relaxed(insert, [
    cell.cellId,
    owner.tenantId,
    owner.conversationId,
    owner.epoch,
    cell.conversationVersion,
    owner.writer,
    cell.memberId ?? null,
    cell.branchId,
    cell.dialect,
    JSON.stringify(cell.source),
    JSON.stringify(cell.options),
    cell.observer,
    limits.observerLeaseMs,
    cell.yieldInMs,
    cell.deadlineInMs ?? null,
    limits.queuedMs,
  ]);
  return rows.length === 1;
}
