import type { Owner, SettleStatus } from '#libs/core';
import type { Database } from '../database.js';
import { isOpen } from './sql.js';

/** What the owner of a call posts. */
export interface CallSettlement {
  callId: string;
  /** JSON text, the same for the same result. */
  result: string;
  /** The tool failed. */
  failed: boolean;
}

/** What came of a batch: a status per call, and the cells whose workers must be told. */
export interface SettledCalls {
  statuses: Map<string, SettleStatus>;
  told: { cellId: string; workerId: string }[];
}

const owned = `k.tenant_id = $2 AND k.conversation_id = $3 AND k.epoch = $4 AND k.writer = $5`;

const lockCells = {
  name: 'calls-lock-cells',
  text: `SELECT c.id FROM cells c
    WHERE c.id IN (SELECT k.cell_id FROM calls k WHERE k.id = ANY($1::text[]) AND ${owned})
    ORDER BY c.id FOR UPDATE`,
};

const settle = {
  name: 'calls-settle',
  text: `
    WITH n AS (
      SELECT * FROM unnest($1::text[], $6::text[], $7::bool[]) AS n(id, result, failed)
    ), u AS (
      UPDATE calls k SET state = CASE WHEN n.failed THEN 'failed' ELSE 'settled' END, result = n.result,
        ended_at = clock_timestamp()
      FROM n, cells c
      WHERE k.id = n.id AND ${owned} AND ${isOpen('k')} AND k.expires_at > clock_timestamp()
        AND c.id = k.cell_id AND c.state = 'running'
      RETURNING k.id
    )
    SELECT k.id, k.cell_id, c.worker_id,
      CASE WHEN u.id IS NOT NULL THEN 'settled' WHEN k.result IS NULL THEN 'closed'
           WHEN k.result = n.result THEN 'duplicate' ELSE 'conflict' END AS status
    FROM n JOIN calls k ON k.id = n.id JOIN cells c ON c.id = k.cell_id LEFT JOIN u ON u.id = k.id
    WHERE ${owned}`,
};

interface SettleRow {
  id: string;
  cell_id: string;
  worker_id: string | null;
  status: Exclude<SettleStatus, 'not_found'>;
}

/**
 * Settles calls of one owner, each at most once; no call may be named twice. The cells' rows are locked first, so a
 * result comes either before the end of its cell or not at all (9. Protocols, 9 and 11).
 */
export async function settleCalls(
  db: Database,
  owner: Owner,
  settlements: readonly CallSettlement[],
): Promise<SettledCalls> {
  const ids = settlements.map((one) => one.callId);
  const scope = [ids, owner.tenantId, owner.conversationId, owner.epoch, owner.writer];
  const rows = await db.transaction(async (tx) => {
    await tx.query(lockCells, scope);
    return tx.query<SettleRow>(settle, [
      ...scope,
      settlements.map((one) => one.result),
      settlements.map((one) => one.failed),
    ]);
  });
  const statuses = new Map<string, SettleStatus>(ids.map((id) => [id, 'not_found']));
  const told = new Map<string, string>();
  for (const row of rows) {
    statuses.set(row.id, row.status);
    if (row.status === 'settled' && row.worker_id !== null) told.set(row.cell_id, row.worker_id);
  }
  return { statuses, told: [...told].map(([cellId, workerId]) => ({ cellId, workerId })) };
}
