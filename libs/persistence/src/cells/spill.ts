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

const spill = {
  name: 'cell-spill',
  text: `
    WITH c AS (
      UPDATE cells SET spilled = $4::int + $5::int, spilled_for = observer,
        boundary = CASE WHEN boundary IS NULL AND (NOT observed OR (observer IS NOT NULL AND observer_until > now()))
                   THEN $7::int ELSE boundary END
      WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running'
      RETURNING ${ownerColumns}, observer
    ), o AS (
      INSERT INTO cell_output (tenant_id, cell_id, first, count, items)
      SELECT tenant_id, id, $4, $5, $6 FROM c WHERE $5::int > 0
    ), a AS (${keepImages('c', 8)}
    )
    SELECT observer FROM c`,
};

/**
 * Writes output of a running cell for its observer, with the boundary it reached if there is one (kept for the present
 * observer, or for the first there will be). Undefined when the cell no longer runs here: the guest must be stopped.
 */
export async function spillOutput(
  db: Database,
  ref: StretchRef,
  chunk: OutputChunk,
  boundary?: number,
): Promise<{ observer: string | null } | undefined> {
  const [row] = await db.query<{ observer: string | null }>(spill, [
    ref.cellId,
    ref.stretch,
    ref.workerId,
    chunk.first,
    chunk.items.length,
    JSON.stringify(chunk.items),
    boundary ?? null,
    ...imageParameters(chunk.items),
  ]);
  return row;
}

const spillStopped = {
  name: 'cell-spill-stopped',
  text: `
    WITH c AS (
      UPDATE cells SET spilled = $4::int + $5::int, complete = true, cpu_ms = $7
      WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'terminated' AND NOT complete
      RETURNING ${ownerColumns}, observer
    ), o AS (
      INSERT INTO cell_output (tenant_id, cell_id, first, count, items)
      SELECT tenant_id, id, $4, $5, $6 FROM c WHERE $5::int > 0
    ), a AS (${keepImages('c', 8)}
    )
    SELECT observer FROM c`,
};

/** Adds what a stopped script had written before the stop, and says that no more can come. */
export async function spillStoppedOutput(
  db: Database,
  ref: StretchRef,
  chunk: OutputChunk,
  cpuMs: number,
): Promise<{ observer: string | null } | undefined> {
  const [row] = await db.query<{ observer: string | null }>(spillStopped, [
    ref.cellId,
    ref.stretch,
    ref.workerId,
    chunk.first,
    chunk.items.length,
    JSON.stringify(chunk.items),
    cpuMs,
    ...imageParameters(chunk.items),
  ]);
  return row;
}
