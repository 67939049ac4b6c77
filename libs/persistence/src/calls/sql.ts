/** Whether a call of this alias waits for its result, as SQL. */
export const isOpen = (call: string): string => `${call}.state IN ('pending', 'delivered')`;

/**
 * Cancels the open calls of ended cells, named by a common table expression with a column `id`. Only in the statement
 * that ends a cell on its own worker, which inserts no more calls by then; others lock the cell first, and cancel in a
 * statement of their own, so that no call inserted meanwhile is missed.
 */
export const cancelCallsOf = (ended: string): string => `
  UPDATE calls k SET state = 'cancelled', ended_at = clock_timestamp() FROM ${ended} WHERE k.cell_id = ${ended}.id
    AND ${isOpen('k')}`;
