import type { StretchRef } from '../cells/spill.js';
import type { Database } from '../database.js';

/** A tool call that is about to leave a worker. */
export interface NewCall {
  callId: string;
  /** Number within the cell. */
  number: number;
  tool: string;
  namespace?: string | undefined;
  toolset: string;
  identifier: string;
  /** JSON text. */
  arguments: string;
  timeoutMs: number;
}

const insert = {
  name: 'calls-insert',
  text: `
    WITH c AS (
      SELECT * FROM cells WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running' FOR SHARE
    ), k AS (
      INSERT INTO calls (id, tenant_id, conversation_id, epoch, writer, cell_id, stretch, number, tool, namespace,
                         toolset, identifier, arguments, told, asked, created_at, expires_at)
      SELECT n.id, c.tenant_id, c.conversation_id, c.epoch, c.writer, c.id, c.stretch, n.number, n.tool, n.namespace,
             n.toolset, n.identifier, n.arguments, $12, $13, clock_timestamp(),
             clock_timestamp() + n.timeout_ms * interval '1 ms'
      FROM c CROSS JOIN unnest($4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                               $11::float8[])
        AS n(id, number, tool, namespace, toolset, identifier, arguments, timeout_ms)
      ON CONFLICT (id) DO NOTHING
    )
    SELECT observer FROM c`,
};

/**
 * Inserts calls that a script made together, in one statement that is on disk when it returns, before anybody is told
 * of them (9. Protocols, 12). `told`: nobody is to be told of them, since the script has ended. `asked`: an answer is to
 * ask for their results, since the script has nothing else to run; see `askForCalls`. May be repeated when it is not known whether it was done. Undefined when the cell no longer runs here: nothing
 * was written, and the guest must be stopped.
 */
export async function insertCalls(
  db: Database,
  ref: StretchRef,
  calls: readonly NewCall[],
  { told, asked }: { told: boolean; asked: boolean },
): Promise<{ observer: string | null } | undefined> {
  const [row] = await db.query<{ observer: string | null }>(insert, [
    ref.cellId,
    ref.stretch,
    ref.workerId,
    calls.map((call) => call.callId),
    calls.map((call) => call.number),
    calls.map((call) => JSON.stringify(call.tool)),
    calls.map((call) => (call.namespace === undefined ? null : JSON.stringify(call.namespace))),
    calls.map((call) => call.toolset),
    calls.map((call) => call.identifier),
    calls.map((call) => call.arguments),
    calls.map((call) => call.timeoutMs),
    told,
    asked,
  ]);
  return row;
}

const ask = {
  name: 'calls-ask',
  text: `
    WITH c AS (
      SELECT tenant_id, id, observer FROM cells
      WHERE id = $1 AND stretch = $2 AND worker_id = $3 AND state = 'running' FOR SHARE
    ), k AS (
      UPDATE calls SET asked = true FROM c
      WHERE calls.tenant_id = c.tenant_id AND calls.cell_id = c.id AND calls.ended_at IS NULL AND NOT calls.asked
    )
    SELECT observer FROM c`,
};

/** The script has nothing to run any more: answers ask for the results of its calls. Undefined: it does not run here. */
export async function askForCalls(db: Database, ref: StretchRef): Promise<{ observer: string | null } | undefined> {
  const [row] = await db.query<{ observer: string | null }>(ask, [ref.cellId, ref.stretch, ref.workerId]);
  return row;
}
