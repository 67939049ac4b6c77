import { Buffer } from 'node:buffer';
import type { OutputItem } from '#libs/core';

const HEADER_BYTES = 8;
const ENTRY_HEADER_BYTES = 5;
const KINDS = ['text', 'console'] as const;

/**
 * Output that a thread has not posted yet, in memory that survives the thread. Posting each item by itself would cost
 * both sides more than the script's own work; without the journal, a thread that is killed would take what it holds
 * back with it. One batch at a time: the header names the batch, so that the main side knows whether it has it already.
 */
export class OutputJournal {
  private readonly header: Int32Array;
  private readonly bytes: Buffer;
  private used = 0;

  constructor(shared: SharedArrayBuffer) {
    this.header = new Int32Array(shared, 0, 2);
    this.bytes = Buffer.from(shared, HEADER_BYTES);
  }

  /** Memory for a journal; larger batches are posted at once. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(HEADER_BYTES + 64 * 1024);
  }

  /** Thread: what was noted has been posted; from here on it is another batch. */
  begin(batch: number): void {
    this.used = 0;
    Atomics.store(this.header, 1, 0);
    Atomics.store(this.header, 0, batch);
  }

  /** Thread: notes an item. False when it does not fit or is a file, so that it must be posted now. */
  append(item: OutputItem): boolean {
    if (item.kind !== 'text' && item.kind !== 'console') return false;
    const size = item.text.length * 2;
    if (this.used + ENTRY_HEADER_BYTES + size > this.bytes.length) return false;
    this.bytes[this.used] = KINDS.indexOf(item.kind);
    this.bytes.writeUInt32LE(size, this.used + 1);
    this.bytes.write(item.text, this.used + ENTRY_HEADER_BYTES, 'utf16le');
    this.used += ENTRY_HEADER_BYTES + size;
    Atomics.store(this.header, 1, this.used);
    return true;
  }

  /** Main side, when the thread is gone: the items of the batch after `posted`. */
  unposted(posted: number): OutputItem[] {
    if (Atomics.load(this.header, 0) !== posted + 1) return [];
    const end = Atomics.load(this.header, 1);
    const items: OutputItem[] = [];
    for (let at = 0; at < end;) {
      const kind = KINDS[this.bytes[at] ?? 0] ?? 'text';
      const start = at + ENTRY_HEADER_BYTES;
      at = start + this.bytes.readUInt32LE(at + 1);
      items.push({ kind, text: this.bytes.toString('utf16le', start, at) });
    }
    return items;
  }
}
