import { type Owner, type ValueWrite, limits } from '#libs/core';
import type { Transaction } from './database.js';
import { currentValues, lockCounter, newestEntries } from './values-sql.js';

/** Values of one cell that go into the log. */
export interface ValuesToWrite {
  owner: Owner;
  branchId: string;
  dialect: string;
  cellId: string;
  writes: readonly ValueWrite[];
}

const scope = `(SELECT $1::text AS tenant_id, $2::text AS conversation_id, $3::int AS epoch, $4::text AS writer,
  $5::text AS branch_id) s`;

const lockHead = {
  name: 'values-lock-head',
  text: `SELECT chars FROM value_heads WHERE tenant_id = $1 AND conversation_id = $2 AND epoch = $3 AND writer = $4
    AND branch_id = $5 FOR UPDATE`,
};

const pathSize = {
  name: 'values-path-size',
  text: `SELECT coalesce(sum(v.chars), 0)::int AS chars FROM ${scope} CROSS JOIN LATERAL (${currentValues('s')}) v`,
};

const currentSizes = {
  name: 'values-current-sizes',
  text: `SELECT v.key, v.chars FROM ${scope}
    CROSS JOIN LATERAL (${newestEntries('s', 'AND e.key = ANY($6::text[])')}) v WHERE v.value IS NOT NULL`,
};

const append = {
  name: 'values-append',
  text: `
    WITH counter AS (
      UPDATE value_counters SET last_sequence = last_sequence + cardinality($6::text[])
      WHERE tenant_id = $1 AND conversation_id = $2 AND epoch = $3
      RETURNING last_sequence - cardinality($6::text[]) AS before
    ), head AS (
      INSERT INTO value_heads (tenant_id, conversation_id, epoch, writer, branch_id, chars)
      VALUES ($1, $2, $3, $4, $5, $9)
      ON CONFLICT (tenant_id, conversation_id, epoch, writer, branch_id) DO UPDATE SET chars = $9
    )
    INSERT INTO value_entries (tenant_id, conversation_id, epoch, sequence, writer, branch_id, key, value, chars,
                               cell_id, dialect)
    SELECT $1, $2, $3, counter.before + w.n, $4, $5, w.key, w.value, w.chars, $10, $11
    FROM counter, unnest($6::text[], $7::text[], $8::int[]) WITH ORDINALITY AS w(key, value, chars, n)`,
};

/**
 * Appends a cell's values, merged with what is on the path now. Locks the conversation's counter, so sequences follow
 * the order of commits, and keeps the size of the writer's values on the branch. Returns that size; over the limit
 * nothing was written (9. Protocols, 15).
 */
export async function writeValues(tx: Transaction, values: ValuesToWrite): Promise<number> {
  const { owner, branchId } = values;
  const scopeOf = [owner.tenantId, owner.conversationId, owner.epoch, owner.writer, branchId];
  await tx.query(lockCounter, scopeOf.slice(0, 3));
  const [head] = await tx.query<{ chars: number }>(lockHead, scopeOf);
  const before = head ?? (await tx.query<{ chars: number }>(pathSize, scopeOf))[0];
  const keys = values.writes.map((write) => JSON.stringify(write.key));
  const sizes = new Map<string, number>();
  for (const row of await tx.query<{ key: string; chars: number }>(currentSizes, [...scopeOf, keys])) {
    sizes.set(row.key, row.chars);
  }
  // Deleting what is not there changes nothing and leaves no entry.
  const changes = values.writes
    .map((write) => ({
      key: JSON.stringify(write.key),
      value: write.json,
      chars: write.json === null ? 0 : write.key.length + write.json.length,
    }))
    .filter((change) => change.value !== null || sizes.has(change.key));
  const size = changes.reduce((sum, change) => sum + change.chars - (sizes.get(change.key) ?? 0), before?.chars ?? 0);
  if (size > limits.valuesChars || changes.length === 0) return size;
  await tx.query(append, [
    ...scopeOf,
    changes.map((change) => change.key),
    changes.map((change) => change.value),
    changes.map((change) => change.chars),
    size,
    values.cellId,
    values.dialect,
  ]);
  return size;
}
