import { type Collected, type Database, markCollected } from '#libs/persistence';
import type { Events } from '#libs/telemetry';

/** Moves the marks of answers that were written out: those that gather while one statement is under way share the next. */
export class CollectedMarks {
  readonly #db: Database;
  readonly #events: Events;
  #waiting: Collected[] = [];
  #writing: Promise<void> | undefined;
  /** The statement that is under way. */
  #statement: Promise<void> = Promise.resolve();
  /** Cells whose marks are not written yet. */
  readonly #unwritten = new Set<string>();

  constructor(db: Database, events: Events) {
    this.#db = db;
    this.#events = events;
  }

  /** Resolves when the mark is in the database. A mark that cannot be written repeats items and loses none. */
  add(answer: Collected): Promise<void> {
    this.#waiting.push(answer);
    this.#unwritten.add(answer.cellId);
    this.#writing ??= this.#write();
    return this.#writing;
  }

  /**
   * Resolves when no mark of this cell is on its way: its place is free then. Who gets an answer may well ask again
   * before that, and must not be told that there is nothing left.
   */
  async written(cellId: string): Promise<void> {
    while (this.#unwritten.has(cellId)) await this.#statement;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = this.#waiting;
      this.#waiting = [];
      this.#statement = markCollected(this.#db, answers).catch((cause: unknown) =>
        this.#events.faulted('answers were not marked as collected; they may be given again', cause),
      );
      await this.#statement;
      for (const { cellId } of answers) this.#unwritten.delete(cellId);
    }
    this.#writing = undefined;
  }
}
