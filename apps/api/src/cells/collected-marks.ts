import { type Collected, type Database, markCollected } from '#libs/persistence';
import type { Events } from '#libs/telemetry';

/** Moves the marks of answers that were written out: those that gather while one statement is under way share the next. */
export class CollectedMarks {
  readonly #db: Database;
  readonly #events: Events;
  #waiting: Collected[] = [];
  #writing: Promise<void> | undefined;

  constructor(db: Database, events: Events) {
    this.#db = db;
    this.#events = events;
  }

  /** Resolves when the mark is in the database. A mark that cannot be written repeats items and loses none. */
  add(answer: Collected): Promise<void> {
    this.#waiting.push(answer);
    this.#writing ??= this.#write();
    return this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = this.#waiting;
      this.#waiting = [];
      await markCollected(this.#db, answers).catch((cause: unknown) =>
        this.#events.faulted('answers were not marked as collected; they may be given again', cause),
      );
    }
    this.#writing = undefined;
  }
}
