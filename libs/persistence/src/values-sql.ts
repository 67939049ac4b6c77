/** The newest entry of each key on a branch's path, deletions included, for an alias with the owner's columns. */
export function newestEntries(of: string, filter = ''): string {
  return `
    SELECT DISTINCT ON (e.key) e.key, e.value, e.chars
    FROM branches b
    CROSS JOIN LATERAL unnest(b.path_ids, b.path_until) AS p(branch_id, until_sequence)
    JOIN value_entries e ON e.tenant_id = b.tenant_id AND e.conversation_id = b.conversation_id AND e.epoch = b.epoch
      AND e.writer = ${of}.writer AND e.branch_id = p.branch_id AND e.sequence <= p.until_sequence
    WHERE b.tenant_id = ${of}.tenant_id AND b.conversation_id = ${of}.conversation_id AND b.epoch = ${of}.epoch
      AND b.id = ${of}.branch_id ${filter}
    ORDER BY e.key, e.sequence DESC`;
}

/** The current values of a writer on a branch: key and value as JSON texts. */
export function currentValues(of: string): string {
  return `SELECT n.key, n.value, n.chars FROM (${newestEntries(of)}) n WHERE n.value IS NOT NULL`;
}

/** Locks the counter of an epoch's sequences, which is made when it is not there, and reads it (9. Protocols, 15). */
export const lockCounter = {
  name: 'values-lock-counter',
  text: `INSERT INTO value_counters (tenant_id, conversation_id, epoch) VALUES ($1, $2, $3)
    ON CONFLICT (tenant_id, conversation_id, epoch) DO UPDATE SET last_sequence = value_counters.last_sequence
    RETURNING last_sequence`,
};
