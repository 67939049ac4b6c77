import type { Database } from './database.js';
import { endOrphans, readHeartbeats, removeWorker, type OrphanedCell } from './workers.js';

/** Cells that one sweep looks at, so that a flood does not make one statement long. */
const BATCH = 500;

const unclaimed = {
  name: 'sweep-unclaimed',
  text: `UPDATE cells c SET state = 'failed', ended_at = clock_timestamp(), error_code = 'no_worker', error = $1,
      complete = true, wake_at = NULL
    WHERE c.id IN (
      SELECT id FROM cells WHERE state = 'queued' AND wake_at <= clock_timestamp()
      ORDER BY wake_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING c.id, c.observer`,
};

/** Ends queued cells that no worker took in time as `no_worker`, without having run. */
export async function endUnclaimed(db: Database): Promise<OrphanedCell[]> {
  const error = JSON.stringify({
    message: 'No worker took this script within 60 seconds, or before its timeout_ms. It has not run; try again later.',
  });
  const rows = await db.query<{ id: string; observer: string | null }>(unclaimed, [error]);
  return rows.map((row) => ({ cellId: row.id, observer: row.observer }));
}

const waiting = {
  name: 'sweep-waiting',
  text: `SELECT id, stretch FROM cells WHERE state = 'queued' AND created_at < clock_timestamp() - interval '5 s'
    ORDER BY created_at LIMIT ${BATCH}`,
};

/** Queued cells that have waited for over 5 s: their jobs may be gone, and are added again. */
export async function findLongQueued(db: Database): Promise<{ cellId: string; stretch: number }[]> {
  const rows = await db.query<{ id: string; stretch: number }>(waiting, []);
  return rows.map((row) => ({ cellId: row.id, stretch: row.stretch }));
}

/** The statements that libs/upkeep works with, over one database. */
export function upkeepStore(db: Database) {
  return {
    endUnclaimed: () => endUnclaimed(db),
    findLongQueued: () => findLongQueued(db),
    readHeartbeats: () => readHeartbeats(db),
    removeWorker: (workerId: string, atBeat: number) => removeWorker(db, workerId, atBeat),
    endOrphans: () => endOrphans(db),
  };
}
