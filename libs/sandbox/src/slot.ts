import type { ActiveCell } from './active-cell.js';
import { returnOf, startOf, type CellEntry } from './cell-entry.js';
import type { CellBasis, CellListener, CellProgram, RunningCell, Slot, WaitingScript } from './port.js';
import type { ThreadHandle } from './thread-handle.js';

/** What a slot needs of its pool. */
export interface SlotKeeper {
  readonly imageVersion: string;
  newCell(basis: CellBasis, entry: CellEntry, listener: CellListener): ActiveCell;
  giveBack(thread: ThreadHandle): void;
}

/** A thread that is held for one script. Given back unused, it returns to the pool; used, it frees itself. */
export class PoolSlot implements Slot {
  private state: 'held' | 'started' | 'disposed' = 'held';

  constructor(
    private readonly thread: ThreadHandle,
    private readonly keeper: SlotKeeper,
  ) {}

  start(program: CellProgram, listener: CellListener): RunningCell {
    const { cellId, tenantId, limits, view } = program;
    return this.run({ cellId, tenantId, limits, ...(view && { view }) }, startOf(program), listener);
  }

  resume(basis: CellBasis, script: WaitingScript, listener: CellListener): RunningCell {
    const { imageVersion } = this.keeper;
    if (script.image.version !== imageVersion) {
      throw new RangeError(
        `The image stands on base image ${script.image.version}, and this pool has ${imageVersion}.`,
      );
    }
    return this.run(basis, returnOf(script), listener, script.timers);
  }

  [Symbol.dispose](): void {
    if (this.state === 'held') this.keeper.giveBack(this.thread);
    if (this.state !== 'started') this.state = 'disposed';
  }

  private run(
    basis: CellBasis,
    entry: CellEntry,
    listener: CellListener,
    timers: WaitingScript['timers'] = [],
  ): RunningCell {
    if (this.state !== 'held') throw new Error('A slot runs one script; acquire another one.');
    this.state = 'started';
    const cell = this.keeper.newCell(basis, entry, listener);
    cell.setTimers(timers);
    this.thread.take(cell);
    return cell;
  }
}
