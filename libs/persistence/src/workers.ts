import { cancelCalls } from './calls/cancel.js';
import type { Database } from './database.js';

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

const orphans = {
  name: 'workers-end-orphans',
  text: `UPDATE cells c SET state = 'failed', ended_at = clock_timestamp(), error_code = 'worker_lost', error = $1,
      complete = true
    WHERE c.state = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = c.worker_id)
    RETURNING c.id, c.observer`,
};

/** Ends every running cell whose worker's row is gone as `worker_lost`, and its open calls (9. Protocols, 13). */
export async function endOrphans(db: Database): Promise<OrphanedCell[]> {
  const error = JSON.stringify({
    message:
      'The worker that ran this script was lost. What the script had done by then is not undone; its values were not saved. Run it again if that is safe.',
  });
  const rows = await db.transaction(async (tx) => {
    const ended = await tx.query<{ id: string; observer: string | null }>(orphans, [error]);
    await cancelCalls(
      tx,
      ended.map((row) => row.id),
    );
    return ended;
  });
  return rows.map((row) => ({ cellId: row.id, observer: row.observer }));
}
