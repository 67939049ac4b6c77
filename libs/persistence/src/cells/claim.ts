import type { Dialect, Owner } from '#libs/core';
import type { Database } from '../database.js';
import { currentValues } from '../values-sql.js';
import type { CellOptions } from './rows.js';

/** A cell that this worker now runs. Times in ms from now. */
export interface ClaimedCell {
  cellId: string;
  stretch: number;
  owner: Owner;
  branchId: string;
  dialect: Dialect;
  source: string;
  options: CellOptions;
  /** Hash of the view that the cell keeps; null: no tools. */
  view: string | null;
  /** The member that the request named, in whatever kind of conversation. */
  memberId: string | null;
  /** The writer's values on the branch's path: key -> JSON text. */
  values: Map<string, string>;
  observer: string | null;
  /** When the observer wants what there is; undefined without an observer. */
  yieldInMs?: number;
  deadlineInMs?: number;
  wallInMs: number;
  queuedMs: number;
}

interface ClaimRow {
  tenant_id: string;
  conversation_id: string;
  epoch: number;
  writer: string;
  branch_id: string;
  dialect: Dialect;
  source: string;
  options: string;
  view: string | null;
  member_id: string | null;
  observer: string | null;
  queued_ms: number;
  yield_in_ms: number | null;
  deadline_in_ms: number | null;
  snapshot: [string, string][] | null;
}

const claim = {
  name: 'cell-claim',
  text: `
    WITH c AS (
      UPDATE cells SET state = 'running', worker_id = $3, started_at = clock_timestamp(), wake_at = NULL
      WHERE id = $1 AND stretch = $2 AND state = 'queued' AND (deadline_at IS NULL OR deadline_at > clock_timestamp())
        AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $3)
      RETURNING *
    )
    SELECT c.tenant_id, c.conversation_id, c.epoch, c.writer, c.branch_id, c.dialect, c.source, c.options, c.view,
      c.member_id, c.observer,
      (extract(epoch FROM clock_timestamp() - c.created_at) * 1000)::float8 AS queued_ms,
      CASE WHEN c.observer IS NOT NULL THEN (extract(epoch FROM c.yield_at - clock_timestamp()) * 1000)::float8 END
        AS yield_in_ms,
      (extract(epoch FROM c.deadline_at - clock_timestamp()) * 1000)::float8 AS deadline_in_ms,
      (SELECT json_agg(json_build_array(v.key, v.value)) FROM (${currentValues('c')}) v) AS snapshot
    FROM c`,
};

/**
 * `queued -> running` on this worker, with the values as of now, in one statement. Commits asynchronously: the first
 * effect or the end flushes it. Undefined when another worker has the cell, it has ended, or this worker counts as lost.
 */
export async function claimCell(
  db: Database,
  job: { cellId: string; stretch: number; workerId: string },
): Promise<ClaimedCell | undefined> {
  const [row] = await db.relaxed<ClaimRow>(claim, [job.cellId, job.stretch, job.workerId]);
  if (!row) return undefined;
  const options = JSON.parse(row.options) as CellOptions;
  return {
    cellId: job.cellId,
    stretch: job.stretch,
    owner: {
      tenantId: row.tenant_id,
      conversationId: row.conversation_id,
      epoch: row.epoch,
      writer: row.writer,
    },
    branchId: row.branch_id,
    dialect: row.dialect,
    source: JSON.parse(row.source) as string,
    options,
    view: row.view,
    memberId: row.member_id,
    values: new Map((row.snapshot ?? []).map(([key, value]) => [JSON.parse(key) as string, value])),
    observer: row.observer,
    ...(row.yield_in_ms === null ? {} : { yieldInMs: row.yield_in_ms }),
    ...(row.deadline_in_ms === null ? {} : { deadlineInMs: row.deadline_in_ms }),
    wallInMs: options.limits.wallMs - row.queued_ms,
    queuedMs: row.queued_ms,
  };
}
