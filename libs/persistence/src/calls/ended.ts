import type { CallState } from '#libs/core';
import type { Database } from '../database.js';
import type { StretchRef } from '../cells/spill.js';
import { isOpen } from './sql.js';

/** A call that has ended while its cell goes on: its script is to be told. */
export interface EndedCall {
  callId: string;
  cellId: string;
  state: Extract<CallState, 'settled' | 'failed' | 'expired'>;
  /** JSON text as it was posted; null when nothing was. */
  result: string | null;
}

interface Row {
  id: string;
  cell_id: string;
  state: EndedCall['state'];
  result: string | null;
}

const read = {
  name: 'calls-read-ended',
  text: `SELECT k.id, k.cell_id, k.state, k.result FROM calls k
    WHERE k.id = ANY($1::text[]) AND k.state IN ('settled', 'failed', 'expired')`,
};

/** Those of these calls that have ended. */
export async function readEndedCalls(db: Database, callIds: readonly string[]): Promise<EndedCall[]> {
  const rows = await db.query<Row>(read, [callIds]);
  return rows.map((row) => ({ callId: row.id, cellId: row.cell_id, state: row.state, result: row.result }));
}

const expire = {
  name: 'calls-expire',
  text: `
    WITH c AS (
      SELECT id FROM cells WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running' FOR UPDATE
    )
    UPDATE calls k SET state = 'expired', ended_at = clock_timestamp() FROM c
    WHERE k.cell_id = c.id AND ${isOpen('k')} AND k.expires_at <= clock_timestamp()`,
};

/** Ends the calls of a running cell whose time is up, by the database's clock. */
export async function expireCalls(db: Database, ref: StretchRef): Promise<void> {
  await db.query(expire, [ref.cellId, ref.stretch, ref.workerId]);
}
