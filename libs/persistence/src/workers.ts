import { cancelCalls } from './calls/cancel.js';
import type { Database } from './database.js';

/** Calls that the error of a cell without its worker names. */
const NAMED_CALLS = 100;

/** A worker's heartbeat as it was read. */
export interface Heartbeat {
  workerId: string;
  beat: number;
}

/** A cell that ended without its worker, and who is observing it. */
export interface OrphanedCell {
  cellId: string;
  observer: string | null;
}

const register = {
  name: 'worker-register',
  text: `INSERT INTO workers (id, slots, image_version) VALUES ($1, $2, $3)`,
};

/** Adds the row of a worker that has just started. It must be there before the worker claims anything. */
export async function registerWorker(
  db: Database,
  worker: { workerId: string; slots: number; imageVersion: string },
): Promise<void> {
  await db.query(register, [worker.workerId, worker.slots, worker.imageVersion]);
}

const beat = { name: 'worker-beat', text: `UPDATE workers SET beat = beat + 1 WHERE id = $1 RETURNING beat` };

/** One heartbeat. False when the row is gone: the worker counts as lost and must not go on. */
export async function beatWorker(db: Database, workerId: string): Promise<boolean> {
  const rows = await db.query(beat, [workerId]);
  return rows.length === 1;
}

const read = { name: 'workers-read', text: `SELECT id, beat FROM workers` };

/** The heartbeats of all workers. */
export async function readHeartbeats(db: Database): Promise<Heartbeat[]> {
  const rows = await db.query<{ id: string; beat: number }>(read, []);
  return rows.map((row) => ({ workerId: row.id, beat: row.beat }));
}

const remove = {
  name: 'worker-remove',
  text: `DELETE FROM workers WHERE id = $1 AND ($2::bigint IS NULL OR beat = $2)`,
};

/**
 * Removes a worker's row: it has stopped, or (with `beat`) its heartbeat has stood still at this value for too long.
 * Its running cells are then ended by {@link endOrphans}.
 */
export async function removeWorker(db: Database, workerId: string, atBeat?: number): Promise<void> {
  await db.query(remove, [workerId, atBeat ?? null]);
}

const lockOrphans = {
  name: 'workers-lock-orphans',
  text: `SELECT c.id FROM cells c
    WHERE c.state = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = c.worker_id)
    ORDER BY c.id FOR UPDATE`,
};
const endLocked = {
  name: 'workers-end-orphans',
  text: `UPDATE cells c SET state = 'failed', ended_at = clock_timestamp(), error_code = 'worker_lost',
      complete = true,
      error = json_build_object('message', $2 || coalesce((
        SELECT chr(10) || 'Tool calls made before the failure (they are not undone): ' || string_agg(
            n.identifier || ' (' || CASE n.state WHEN 'settled' THEN 'completed' WHEN 'failed' THEN 'failed'
              WHEN 'expired' THEN 'failed' ELSE 'cancelled' END || ')', ', ' ORDER BY n.number)
          || CASE WHEN max(n.made) > ${NAMED_CALLS} THEN ', and ' || max(n.made) - ${NAMED_CALLS} || ' more' ELSE '' END
        FROM (SELECT k.identifier, k.state, k.number, count(*) OVER () AS made FROM calls k
              WHERE k.cell_id = c.id ORDER BY k.number LIMIT ${NAMED_CALLS}) n), ''))::text
    WHERE c.id = ANY($1::text[]) AND c.state = 'running'
    RETURNING c.id, c.observer`,
};

/**
 * Ends every running cell whose worker's row is gone as `worker_lost`, and its open calls (9. Protocols, 13). The error
 * names the calls that were made, the first 100 of them. They are read once the cells are locked: from then on none is
 * added.
 */
export async function endOrphans(db: Database): Promise<OrphanedCell[]> {
  const message =
    'The worker that ran this script was lost. What the script had done by then is not undone; its values were not saved. Run it again if that is safe.';
  const rows = await db.transaction(async (tx) => {
    const orphans = await tx.query<{ id: string }>(lockOrphans, []);
    if (orphans.length === 0) return [];
    const ids = orphans.map((row) => row.id);
    await cancelCalls(tx, ids);
    return tx.query<{ id: string; observer: string | null }>(endLocked, [ids, message]);
  });
  return rows.map((row) => ({ cellId: row.id, observer: row.observer }));
}
