import { type CellFailure, keepsValues } from '#libs/core';
import {
  type CellEnd,
  type ClaimedCell,
  type CommittedEnd,
  type Database,
  type OutputChunk,
  type StretchRef,
  type ValuesOfEnd,
  endCell,
} from '#libs/persistence';
import type { CellOutcome } from '#libs/sandbox';
import type { Events } from '#libs/telemetry';

/** What there is to know of a claimed cell while its script runs: source and values are in the script's own memory. */
export type CellFacts = Omit<ClaimedCell, 'source' | 'values'>;

/** What an end is committed with. */
export interface CellEndParts {
  db: Database;
  events: Events;
  ref: StretchRef;
  /** Tries a write again for as long as Postgres is away; undefined: given up, this worker counts as lost. */
  persist: <Result>(write: () => Promise<Result>) => Promise<Result | undefined>;
}

/**
 * Commits how a script ended, with its output and the values that are kept. Undefined when the row was ended by
 * somebody else: a stop, or the reaper.
 */
export async function commitEnd(
  { db, events, ref, persist }: CellEndParts,
  facts: CellFacts,
  outcome: CellOutcome,
  output: OutputChunk,
): Promise<CommittedEnd | undefined> {
  const { state, failure, warnings } = outcome;
  const cpuMs = Math.round(outcome.cpuMs * 1_000) / 1_000;
  const end: CellEnd = { state, failure, warnings, cpuMs, output };
  const values: ValuesOfEnd = {
    owner: facts.owner,
    branchId: facts.branchId,
    dialect: facts.dialect,
    writes: keepsValues(facts.dialect, state, failure?.code) ? outcome.writes : [],
  };
  try {
    return await persist(() => endCell(db, ref, end, values));
  } catch (cause) {
    // Whatever made the full end impossible must not keep the cell from ending.
    events.faulted('the end of a cell was refused', cause, { cellId: ref.cellId });
    const internal: CellFailure = { code: 'internal', message: 'Cellar could not keep the result of this script.' };
    const bare: CellEnd = { ...end, state: 'failed', failure: internal, output: { ...output, items: [] } };
    return persist(() => endCell(db, ref, bare));
  }
}
