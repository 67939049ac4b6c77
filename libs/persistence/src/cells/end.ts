import {
  type CellFailure,
  type CellWarning,
  type Dialect,
  type Owner,
  type TerminalState,
  type ValueWrite,
  limits,
} from '#libs/core';
import { imageParameters, keepImages, ownerColumns } from '../artifacts.js';
import { cancelCallsOf } from '../calls/sql.js';
import type { Database, Transaction } from '../database.js';
import { writeValues } from '../values.js';
import { fromFailure, ms } from './rows.js';
import type { OutputChunk, StretchRef } from './spill.js';

/** How a cell ended, as it is committed. */
export interface CellEnd {
  state: TerminalState;
  failure?: CellFailure;
  warnings: readonly CellWarning[];
  cpuMs: number;
  /** Output that has not been spilled. */
  output: OutputChunk;
}

/** Values that go into the log with the end. */
export interface ValuesOfEnd {
  owner: Owner;
  branchId: string;
  dialect: Dialect;
  writes: readonly ValueWrite[];
}

/** What was committed; `failure` differs from the given one when the values did not fit. */
export interface CommittedEnd {
  observer: string | null;
  /** Items below this number had been collected. */
  collected: number;
  /** The observer gets the items below this number first. */
  boundary: number | null;
  /** As in the cell's view. */
  timings: { queuedMs: number; wallMs: number; cpuMs: number };
  failure?: CellFailure;
  state: TerminalState;
}

const end = {
  name: 'cell-end',
  text: `
    WITH c AS (
      UPDATE cells SET state = $4, ended_at = clock_timestamp(), error_code = $5, error = $6, warnings = $7,
        cpu_ms = $8, spilled = $9::int + $10::int, complete = true
      WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running'
      RETURNING ${ownerColumns}, observer, collected, boundary, created_at, started_at, ended_at
    ), o AS (
      INSERT INTO cell_output (tenant_id, cell_id, first, count, items)
      SELECT tenant_id, id, $9, $10, $11 FROM c WHERE $10::int > 0
    ), a AS (${keepImages('c', 12)}
    ), k AS (${cancelCallsOf('c')}
    )
    SELECT observer, collected, boundary, ${ms('created_at', 'started_at')} AS queued_ms,
      ${ms('created_at', 'ended_at')} AS wall_ms FROM c`,
};

interface EndRow {
  observer: string | null;
  collected: number;
  boundary: number | null;
  queued_ms: number;
  wall_ms: number;
}

const lock = {
  name: 'cell-lock-running',
  text: `SELECT 1 FROM cells WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running' FOR UPDATE`,
};

/**
 * The end of a cell: final state, values, the output not yet spilled and the end of its open calls, in one transaction,
 * fenced by state, worker and stretch (9. Protocols, 10 and 15). All calls have been inserted by then. Undefined when the cell no longer runs here: nothing was written.
 */
export async function endCell(
  db: Database,
  ref: StretchRef,
  result: CellEnd,
  values?: ValuesOfEnd,
): Promise<CommittedEnd | undefined> {
  if (!values || values.writes.length === 0) return writeEnd(db, ref, result);
  return db.transaction(async (tx) => {
    const locked = await tx.query(lock, [ref.cellId, ref.stretch, ref.workerId]);
    if (locked.length === 0) return undefined;
    const size = await writeValues(tx, { ...values, cellId: ref.cellId });
    return writeEnd(tx, ref, size <= limits.valuesChars ? result : { ...result, ...tooManyValues(size) });
  });
}

async function writeEnd(
  on: Database | Transaction,
  ref: StretchRef,
  result: CellEnd,
): Promise<CommittedEnd | undefined> {
  const { output } = result;
  const [row] = await on.query<EndRow>(end, [
    ref.cellId,
    ref.stretch,
    ref.workerId,
    result.state,
    ...fromFailure(result.failure),
    JSON.stringify(result.warnings),
    result.cpuMs,
    output.first,
    output.items.length,
    JSON.stringify(output.items),
    ...imageParameters(output.items),
  ]);
  if (!row) return undefined;
  const { observer, collected, boundary } = row;
  const timings = { queuedMs: row.queued_ms, wallMs: row.wall_ms, cpuMs: result.cpuMs };
  return { observer, collected, boundary, timings, state: result.state, failure: result.failure };
}

function tooManyValues(size: number): Pick<CellEnd, 'state' | 'failure'> {
  return {
    state: 'failed',
    failure: {
      code: 'values_limit',
      message:
        `RangeError: all saved values together would hold ${size} characters, the limit is ${limits.valuesChars}: ` +
        'another script saved values meanwhile. None of the values of this script were kept; delete some and run it again.',
    },
  };
}
