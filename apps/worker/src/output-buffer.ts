import type { OutputItem } from '#libs/core';
import type { OutputChunk } from '#libs/persistence';

/** The output of a running cell that is not in Postgres yet. Redis holds none of it. */
export class OutputBuffer {
  #items: OutputItem[] = [];
  /** Number of the first item here. */
  #first = 0;

  push(items: readonly OutputItem[]): void {
    for (const item of items) this.#items.push(item);
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** All that is here. */
  chunk(): OutputChunk {
    return { first: this.#first, items: [...this.#items] };
  }

  /** The chunk is in Postgres: lets go of it. */
  spilled(chunk: OutputChunk): void {
    this.#items = this.#items.slice(chunk.items.length);
    this.#first = chunk.first + chunk.items.length;
  }
}
