import type { CarriedEnd } from '#libs/contracts';
import { type OutputItem, artifactIdOf } from '#libs/core';
import type { Doorbells } from '#libs/events';
import { type Database, type OutputChunk, type StretchRef, spillOutput } from '#libs/persistence';
import type { Events } from '#libs/telemetry';
import { OutputBuffer } from './output-buffer.js';

/** What the output of a cell works with. */
export interface CellOutputParts {
  db: Database;
  doorbells: Doorbells;
  events: Events;
  ref: StretchRef;
  /** The cell no longer runs here. */
  lost: () => void;
}

/** The output of one running cell, and the observer it is for: put into Postgres when the observer is to read it. */
export class CellOutput implements Disposable {
  readonly #parts: CellOutputParts;
  readonly #buffer = new OutputBuffer();
  #observer: string | null = null;
  #yieldTimer: NodeJS.Timeout | undefined;
  /** Spills run one after the other. */
  #spills: Promise<void> = Promise.resolve();

  constructor(parts: CellOutputParts) {
    this.#parts = parts;
  }

  push(items: readonly OutputItem[]): void {
    this.#buffer.push(items.map((item) => this.#named(item)));
  }

  /** What is not in Postgres. Whoever writes it must first wait for `settled`. */
  rest(): OutputChunk {
    return this.#buffer.chunk();
  }

  /** Resolves when no spill is under way. */
  get settled(): Promise<void> {
    return this.#spills;
  }

  /** Somebody observes, until `yieldInMs` from now. False when it is the same observer as before. */
  observedBy(observer: string | null, yieldInMs: number | undefined): boolean {
    if (observer === null || observer === this.#observer) return false;
    this.#observer = observer;
    if (yieldInMs === undefined) return true;
    clearTimeout(this.#yieldTimer);
    this.#yieldTimer = setTimeout(() => void this.spill(), Math.max(0, yieldInMs));
    return true;
  }

  /** Puts what there is where the observer can read it, and rings. Resolves when that is done. */
  spill(boundary?: number): Promise<void> {
    const { db, events, ref, lost } = this.#parts;
    this.#spills = this.#spills.then(async () => {
      const chunk = this.#buffer.chunk();
      try {
        const row = await spillOutput(db, ref, chunk, boundary);
        if (!row) return lost();
        this.#buffer.spilled(chunk);
        this.ring(row.observer);
      } catch (cause) {
        // What was not written is still in the buffer, and goes out with the next spill or the end.
        events.faulted('output was not spilled', cause, { cellId: ref.cellId });
      }
    });
    return this.#spills;
  }

  /** The same when there is anything to put there. */
  spillIfAny(): Promise<void> {
    return this.#buffer.isEmpty ? this.#spills : this.spill();
  }

  /** Tells the observer to look, or what it would see. */
  ring(observer: string | null | undefined, end?: CarriedEnd): void {
    if (observer) this.#parts.doorbells.ringObserver(this.#parts.ref.cellId, observer, end);
  }

  /** Images have the id of the artifact that they are kept as. */
  #named(item: OutputItem): OutputItem {
    if (item.kind !== 'image' || item.hash === undefined) return item;
    const { hash, ...image } = item;
    return { ...image, artifactId: artifactIdOf(this.#parts.ref.cellId, hash) };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#yieldTimer);
  }
}
