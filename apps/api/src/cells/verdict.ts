import { isTerminal } from '#libs/core';
import type { CellView } from '#libs/persistence';

/** What the observer of a cell is told. */
export interface Verdict {
  state: 'running' | 'completed' | 'failed' | 'terminated';
  /** How many of the view's items are handed over. */
  items: number;
}

/** What was known when the row was read. */
export interface Moment {
  /** The answer cannot wait any longer, for a worker to write what there is. */
  timeOver: boolean;
  /** The worker of a stopped cell has had its time to add what the script wrote. */
  stopOver: boolean;
}

/**
 * What a row means for its observer; undefined: go on observing. A boundary comes before an end, so that
 * `yield_control()` is answered as running even if the cell has ended since.
 */
export function verdictOf(view: CellView, moment: Moment): Verdict | undefined {
  const handsOver = view.dialect === 'exec';
  if (view.boundary !== null && handsOver) {
    return { state: 'running', items: Math.max(0, view.boundary - view.collected) };
  }
  if (isTerminal(view.state)) {
    if (!view.complete && !moment.stopOver) return undefined;
    return { state: view.state, items: view.items.length };
  }
  // A running cell's worker writes what there is when the time is over; a queued one has nothing to write.
  const ready = view.yieldDue && (view.state === 'queued' || view.spilled);
  // The platform must act before the script can go on, and has not been told.
  const asks = view.calls === 'untold';
  if (!ready && !asks && !moment.timeOver) return undefined;
  // The items of a codemode cell come with its end.
  return { state: 'running', items: handsOver ? view.items.length : 0 };
}
