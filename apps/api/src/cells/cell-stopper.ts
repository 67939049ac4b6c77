import type { Doorbells } from '#libs/events';
import type { StoppedCell } from '#libs/persistence';

/** How long a worker may take to confirm that a guest has ended, in ms (9. Protocols, 17). */
export const CONFIRM_MS = 800;

/** Tells workers and observers of cells whose rows say `terminated`, and waits for the workers' confirmation. */
export class CellStopper {
  readonly #doorbells: Doorbells;
  readonly #processId: string;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(doorbells: Doorbells, processId: string) {
    this.#doorbells = doorbells;
    this.#processId = processId;
  }

  /** A worker says that the guest of a cell has ended and its output is complete. */
  confirmed(cellId: string): void {
    for (const confirm of this.#waiting.get(cellId) ?? []) confirm();
  }

  /** Resolves with the cells whose workers did not confirm in time; their effects are fenced off all the same. */
  async tell(cells: readonly StoppedCell[]): Promise<string[]> {
    const answers = await Promise.all(cells.map((cell) => this.#tellOne(cell)));
    return cells.filter((_, i) => !answers[i]).map((cell) => cell.cellId);
  }

  async #tellOne({ cellId, workerId, observer }: StoppedCell): Promise<boolean> {
    if (workerId === null) {
      if (observer !== null) this.#doorbells.ringObserver(cellId, observer);
      return true;
    }
    const confirmed = this.#confirmation(cellId);
    this.#doorbells.ring(workerId, { kind: 'stop', cellId, replyTo: this.#processId });
    return confirmed;
  }

  #confirmation(cellId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(cellId) ?? new Set();
      this.#waiting.set(cellId, waiting);
      const settle = (confirmed: boolean): void => {
        clearTimeout(timer);
        waiting.delete(confirm);
        if (waiting.size === 0) this.#waiting.delete(cellId);
        resolve(confirmed);
      };
      const confirm = (): void => settle(true);
      const timer = setTimeout(() => settle(false), CONFIRM_MS);
      waiting.add(confirm);
    });
  }
}
