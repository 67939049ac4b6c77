import { newSeed } from '#libs/core';
import type { CellProgram, WaitingScript } from './port.js';
import type { ToThread } from './protocol.js';
import type { ScriptState } from './script-state.js';

/** How a script enters a thread: it starts, or it goes on with its memory. */
export type CellEntry =
  | Pick<Extract<ToThread, { type: 'start' }>, 'type' | 'dialect' | 'source' | 'values' | 'seed'>
  | { type: 'wake'; changes: ArrayBuffer; state: ScriptState; isForeign: boolean };

/** The entry of a script that starts. */
export function startOf({ dialect, source, values }: CellProgram): CellEntry {
  return { type: 'start', dialect, source, values: [...values].flat(), seed: newSeed() };
}

/** The entry of a script that comes from outside of this pool. */
export function returnOf({ image, state }: WaitingScript): CellEntry {
  return { type: 'wake', changes: image.changes, state, isForeign: true };
}
