import type { CellListener, CellProgram, RunningCell, Slot } from './port.js';
import type { ThreadHandle } from './thread-handle.js';

/** A thread that is held for one script. Given back unused, it returns to the pool; used, it frees itself. */
export class PoolSlot implements Slot {
  private state: 'held' | 'started' | 'disposed' = 'held';

  constructor(
    private readonly thread: ThreadHandle,
    private readonly giveBack: (thread: ThreadHandle) => void,
  ) {}

  start(program: CellProgram, listener: CellListener): RunningCell {
    if (this.state !== 'held') throw new Error('A slot runs one script; acquire another one.');
    this.state = 'started';
    return this.thread.run(program, listener);
  }

  [Symbol.dispose](): void {
    if (this.state === 'held') this.giveBack(this.thread);
    if (this.state !== 'started') this.state = 'disposed';
  }
}
