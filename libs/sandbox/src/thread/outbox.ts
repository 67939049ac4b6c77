import type { OutputItem } from '#libs/core';
import type { OutputJournal } from '../journal.js';
import type { FromThread } from '../protocol.js';

/** Items of one message. */
const BATCH_ITEMS = 64;
/** Output that comes this long after the last message is posted at once, in ms: only floods are batched. */
const QUIET_MS = 1;

/**
 * The way of one cell's messages to the main side, in order. What is not posted yet stands in the journal, so nothing
 * is lost when the thread is killed.
 */
export class Outbox {
  private items: OutputItem[] = [];
  private batch = 1;
  private postedAt = -Infinity;

  constructor(
    private readonly cell: number,
    private readonly journal: OutputJournal,
    private readonly post: (message: FromThread) => void,
  ) {
    journal.begin(this.batch);
  }

  /** Takes an item of output. */
  add(item: OutputItem): void {
    this.items.push(item);
    const noted = this.journal.append(item);
    if (!noted || this.items.length >= BATCH_ITEMS || performance.now() - this.postedAt > QUIET_MS) this.flush();
  }

  /** Posts what was held back, then the message. */
  tell(message: FromThread): void {
    this.flush();
    this.post(message);
  }

  /** Posts what was held back. */
  flush(): void {
    if (this.items.length === 0) return;
    const { cell, batch, items } = this;
    this.items = [];
    this.post({ type: 'output', cell, batch, items });
    this.batch += 1;
    this.journal.begin(this.batch);
    this.postedAt = performance.now();
  }
}
