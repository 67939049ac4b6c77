import { type CallState, isOpenCall } from '#libs/core';
import type { Database } from '../database.js';

/** Calls of one cell that an answer lists beside the open ones. */
const LISTED = 1_000;

/** A call as the answers about its cell tell it. */
export interface ListedCall {
  callId: string;
  tool: string;
  namespace?: string;
  toolset: string;
  identifier: string;
  state: CallState;
  /** JSON text; of open calls only. */
  arguments: string | null;
  expiresAt: Date;
  durationMs: number;
}

/** The calls of a cell, each list in the order of start. */
export interface CallsOfCell {
  /** The newest 1,000. */
  newest: ListedCall[];
  open: ListedCall[];
}

interface Row {
  id: string;
  tool: string;
  namespace: string | null;
  toolset: string;
  identifier: string;
  state: CallState;
  arguments: string | null;
  expires_at: Date;
  duration_ms: number;
}

const list = {
  name: 'calls-list',
  text: `
    SELECT k.id, k.tool, k.namespace, k.toolset, k.identifier, k.state, k.expires_at,
      CASE WHEN k.ended_at IS NULL THEN k.arguments END AS arguments,
      (extract(epoch FROM coalesce(k.ended_at, clock_timestamp()) - k.created_at) * 1000)::float8 AS duration_ms
    FROM calls k
    WHERE k.tenant_id = $1 AND k.cell_id = $2
      AND (k.ended_at IS NULL
        OR k.number >= (SELECT min(n.number) FROM (SELECT number FROM calls WHERE cell_id = $2
                                                   ORDER BY number DESC LIMIT ${LISTED}) n))
    ORDER BY k.number`,
};

/** The calls of a cell that its owner may see: look the cell up by its owner first. */
export async function listCalls(db: Database, tenantId: string, cellId: string): Promise<CallsOfCell> {
  const rows = await db.query<Row>(list, [tenantId, cellId]);
  const calls = rows.map(toListed);
  return { newest: calls.slice(-LISTED), open: calls.filter((call) => isOpenCall(call.state)) };
}

function toListed(row: Row): ListedCall {
  return {
    callId: row.id,
    tool: JSON.parse(row.tool) as string,
    ...(row.namespace === null ? {} : { namespace: JSON.parse(row.namespace) as string }),
    toolset: row.toolset,
    identifier: row.identifier,
    state: row.state,
    arguments: row.arguments,
    expiresAt: row.expires_at,
    durationMs: Math.max(0, row.duration_ms),
  };
}
