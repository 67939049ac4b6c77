import type { Transaction } from '../database.js';
import { isOpen } from './sql.js';

const cancel = {
  name: 'calls-cancel',
  text: `UPDATE calls k SET state = 'cancelled', ended_at = clock_timestamp()
    WHERE k.cell_id = ANY($1::text[]) AND ${isOpen('k')}`,
};

/** Cancels the open calls of cells that this transaction has ended; their rows are locked by that. */
export async function cancelCalls(tx: Transaction, cellIds: readonly string[]): Promise<void> {
  if (cellIds.length > 0) await tx.query(cancel, [cellIds]);
}
