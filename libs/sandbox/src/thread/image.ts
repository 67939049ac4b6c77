import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { EngineInstance } from './instance.js';
import { DROP_INSTANCE_BYTES, LAYOUT } from './layout.js';

const ZEROS = Buffer.alloc(1024 * 1024);

/**
 * The memory of the engine with the prelude loaded and no script run: every cell starts from these bytes. Only what a
 * script can have changed is copied back: static data, the reach of the C stack, and the heap up to its break.
 */
export class BaseImage {
  private constructor(
    private readonly bytes: Buffer,
    /** SHA-256 of the image: the image version (spec: protocols, rule 1). */
    readonly version: string,
  ) {}

  /** Takes the image of an instance, whose unused stack is cleared first. */
  static take(engine: EngineInstance): BaseImage {
    engine.bytes.fill(0, LAYOUT.staticEnd, LAYOUT.stackTop);
    const bytes = Buffer.from(engine.bytes.subarray(0, engine.programBreak()));
    return new BaseImage(bytes, createHash('sha256').update(bytes).digest('hex'));
  }

  /** Where the base state ends: above it every byte is zero. */
  get size(): number {
    return this.bytes.length;
  }

  /** Whether a memory has the base state from `start` to `end`, which lie on one side of `size`. */
  holds(memory: Buffer, start: number, end: number): boolean {
    return end <= this.bytes.length
      ? memory.compare(this.bytes, start, end, start, end) === 0
      : memory.compare(ZEROS, 0, end - start, start, end) === 0;
  }

  /** Gives a fresh instance of the same binary the base state. */
  load(engine: EngineInstance): void {
    this.bytes.copy(engine.bytes, 0, 0, LAYOUT.staticEnd);
    this.bytes.copy(engine.bytes, LAYOUT.stackTop, LAYOUT.stackTop, this.bytes.length);
  }

  /** Whether the instance grew so large that it should be dropped instead of restored. */
  isTooLarge(engine: EngineInstance): boolean {
    return engine.programBreak() > DROP_INSTANCE_BYTES;
  }

  /** Brings an instance back to the base state. */
  restore(engine: EngineInstance): void {
    const { bytes: memory } = engine;
    const used = engine.programBreak();
    this.bytes.copy(memory, 0, 0, LAYOUT.staticEnd);
    memory.fill(0, LAYOUT.stackTop - LAYOUT.stackReach, LAYOUT.stackTop);
    this.bytes.copy(memory, LAYOUT.stackTop, LAYOUT.stackTop, this.bytes.length);
    if (used > this.bytes.length) memory.fill(0, this.bytes.length, used);
  }

  /** Address of the first byte in the whole memory that differs from the base state; undefined when none does. */
  firstDifference(engine: EngineInstance): number | undefined {
    const { bytes: memory } = engine;
    for (let start = 0; start < memory.length; start += ZEROS.length) {
      const end = start + ZEROS.length;
      const isSpanning = start < this.bytes.length && end > this.bytes.length;
      if (!isSpanning && this.holds(memory, start, end)) continue;
      for (let at = start; at < end; at += 1) if (memory[at] !== (this.bytes[at] ?? 0)) return at;
    }
    return undefined;
  }
}
