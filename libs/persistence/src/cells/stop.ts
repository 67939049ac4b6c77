import type { Owner } from '#libs/core';
import { cancelCalls } from '../calls/cancel.js';
import type { Database } from '../database.js';

/** What a stop found. */
export interface StoppedCell {
  cellId: string;
  /** The worker that must end the guest; null when none had the cell. */
  workerId: string | null;
  /** Who is observing now. */
  observer: string | null;
}

const stop = {
  name: 'cell-stop',
  text: `UPDATE cells c SET state = 'terminated', ended_at = clock_timestamp(), wake_at = NULL,
      complete = (c.worker_id IS NULL)
    WHERE c.id = $1 AND c.tenant_id = $2 AND c.conversation_id = $3 AND c.epoch = $4 AND c.writer = $5
      AND c.state IN ('queued', 'running')
    RETURNING c.id, c.worker_id, CASE WHEN c.observer_until > now() THEN c.observer END AS observer`,
};

/**
 * Commits `terminated` for one cell, and the end of its open calls. From then on nothing of it can write values or effects; what it had written is
 * still added by its worker, which must be told. Undefined when this owner has no such cell or it has ended.
 */
export async function stopCell(db: Database, owner: Owner, cellId: string): Promise<StoppedCell | undefined> {
  const scope = [cellId, owner.tenantId, owner.conversationId, owner.epoch, owner.writer];
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ id: string; worker_id: string | null; observer: string | null }>(stop, scope);
    if (!row) return undefined;
    await cancelCalls(tx, [row.id]);
    return { cellId: row.id, workerId: row.worker_id, observer: row.observer };
  });
}
