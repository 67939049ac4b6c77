import type { OutputItem } from '#libs/core';
import { imageParameters, keepImages, ownerColumns } from '../artifacts.js';
import type { Database } from '../database.js';

/** Which run of a cell a worker speaks for: every write of the worker is fenced by all three. */
export interface StretchRef {
  cellId: string;
  stretch: number;
  workerId: string;
}

/** Output that goes to Postgres: consecutive items. */
export interface OutputChunk {
  first: number;
  items: readonly OutputItem[];
}

/**
 * A statement that changes a cell's row by `change` (parameter 7 is its own) and, if the row was this stretch's to
 * change, writes the output that has come with its images. Gives the observer.
 */
const spilling = (name: string, change: string) => ({
  name,
  text: `
    WITH c AS (
      UPDATE cells SET spilled = $4::int + $5::int, ${change}
      RETURNING ${ownerColumns}, observer
    ), o AS (
      INSERT INTO cell_output (tenant_id, cell_id, first, count, items)
      SELECT tenant_id, id, $4, $5, $6 FROM c WHERE $5::int > 0
    ), a AS (${keepImages('c', 8)}
    )
    SELECT observer FROM c`,
});

const ofStretch = `id = $1 AND stretch = $2 AND worker_id = $3`;

const spill = spilling(
  'cell-spill',
  `spilled_for = observer,
        boundary = CASE WHEN boundary IS NULL AND (NOT observed OR (observer IS NOT NULL AND observer_until > now()))
                   THEN $7::int ELSE boundary END
      WHERE ${ofStretch} AND state = 'running'`,
);

const spillStopped = spilling(
  'cell-spill-stopped',
  `complete = true, cpu_ms = $7 WHERE ${ofStretch} AND state = 'terminated' AND NOT complete`,
);

/** Undefined: the row was not this stretch's to change. */
async function write(
  db: Database,
  statement: typeof spill,
  ref: StretchRef,
  chunk: OutputChunk,
  own: number | null,
): Promise<{ observer: string | null } | undefined> {
  const [row] = await db.query<{ observer: string | null }>(statement, [
    ref.cellId,
    ref.stretch,
    ref.workerId,
    chunk.first,
    chunk.items.length,
    JSON.stringify(chunk.items),
    own,
    ...imageParameters(chunk.items),
  ]);
  return row;
}

/**
 * Writes output of a running cell for its observer, with the boundary it reached if there is one (kept for the present
 * observer, or for the first there will be). Undefined when the cell no longer runs here: the guest must be stopped.
 */
export function spillOutput(
  db: Database,
  ref: StretchRef,
  chunk: OutputChunk,
  boundary?: number,
): Promise<{ observer: string | null } | undefined> {
  return write(db, spill, ref, chunk, boundary ?? null);
}

/** Adds what a stopped script had written before the stop, and says that no more can come. */
export function spillStoppedOutput(
  db: Database,
  ref: StretchRef,
  chunk: OutputChunk,
  cpuMs: number,
): Promise<{ observer: string | null } | undefined> {
  return write(db, spillStopped, ref, chunk, cpuMs);
}
