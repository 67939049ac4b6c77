import type { ActiveCell, CellState } from './active-cell.js';

/** A script that waits keeps its thread this long when nobody else needs it, in ms (spec: scripts, hibernation). */
const KEEP_MS = 50;

/** The cells of a pool that run nothing: with a thread, without one, and those that need one again. */
export class RestingCells {
  /** Those with a thread, the longest waiting first, each with the alarm that sends it to sleep. */
  private readonly waiting = new Map<ActiveCell, NodeJS.Timeout>();
  private readonly leaving = new Set<ActiveCell>();
  /** Those without a thread, and the bytes that each holds. */
  private readonly sleeping = new Map<ActiveCell, number>();
  private readonly dueCells = new Set<ActiveCell>();
  private bytes = 0;

  /** `maxBytes`: while sleeping cells hold that much memory, waiting ones keep their threads. */
  constructor(private readonly maxBytes: number) {}

  /** Cells without a thread that have something to run, in the order in which they got it. */
  get due(): ReadonlySet<ActiveCell> {
    return this.dueCells;
  }

  /** Cells without a thread, and their bytes. */
  get counts(): { hibernated: number; hibernatedBytes: number } {
    return { hibernated: this.sleeping.size, hibernatedBytes: this.bytes };
  }

  /** A cell has entered a state. */
  entered(cell: ActiveCell, state: CellState): void {
    clearTimeout(this.waiting.get(cell));
    this.waiting.delete(cell);
    this.leaving.delete(cell);
    this.dueCells.delete(cell);
    if (state === 'waiting') {
      this.waiting.set(
        cell,
        setTimeout(() => this.sendToSleep(cell), KEEP_MS),
      );
    } else if (state === 'leaving') this.leaving.add(cell);
    else if (state === 'due') this.dueCells.add(cell);
    this.count(cell, state === 'asleep' || state === 'due');
  }

  /** Others need that many threads: as many waiting cells leave theirs. */
  makeRoom(threads: number): void {
    for (const cell of this.waiting.keys()) {
      if (this.leaving.size >= threads) return;
      this.sendToSleep(cell);
    }
  }

  private count(cell: ActiveCell, isAsleep: boolean): void {
    const known = this.sleeping.get(cell);
    if (isAsleep === (known !== undefined)) return;
    if (known === undefined) {
      const { sleepingBytes } = cell;
      this.sleeping.set(cell, sleepingBytes);
      this.bytes += sleepingBytes;
    } else {
      this.sleeping.delete(cell);
      this.bytes -= known;
    }
  }

  private sendToSleep(cell: ActiveCell): void {
    if (this.bytes < this.maxBytes) cell.hibernate();
  }
}
