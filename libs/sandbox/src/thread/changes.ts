import { Buffer } from 'node:buffer';
import type { BaseImage } from './image.js';
import type { EngineInstance } from './instance.js';
import { LAYOUT } from './layout.js';

/** What is looked at first, and what is kept, in bytes: small blocks make small images, large ones a short search. */
const SEARCH_BYTES = 4_096;
const BLOCK_BYTES = 256;
/** Number of runs, then address and length of each, then their bytes. Numbers are unsigned 32-bit, little-endian. */
const WORD = 4;

/** The bytes are not the changes of a script's memory. */
export class DamagedChangesError extends Error {}

/**
 * What a waiting script's memory has that the base image has not: static data and heap, in runs of blocks. The C stack
 * is left out, because nothing lies on it while nothing runs.
 */
export function takeChanges(image: BaseImage, engine: EngineInstance): ArrayBuffer {
  const memory = engine.bytes;
  const runs: [start: number, end: number][] = [];
  const add = (start: number, end: number): void => {
    const last = runs.at(-1);
    if (last?.[1] === start) last[1] = end;
    else runs.push([start, end]);
  };
  const search = (from: number, to: number): void => {
    for (let start = from; start < to; start += SEARCH_BYTES) {
      const end = Math.min(start + SEARCH_BYTES, to);
      if (image.holds(memory, start, end)) continue;
      for (let at = start; at < end; at += BLOCK_BYTES) {
        const blockEnd = Math.min(at + BLOCK_BYTES, end);
        if (!image.holds(memory, at, blockEnd)) add(at, blockEnd);
      }
    }
  };
  const heapEnd = engine.programBreak();
  search(0, LAYOUT.staticEnd);
  search(LAYOUT.stackTop, Math.min(image.size, heapEnd));
  search(image.size, heapEnd);
  const header = WORD * (1 + 2 * runs.length);
  const taken = new ArrayBuffer(runs.reduce((sum, [start, end]) => sum + end - start, header));
  const words = new Uint32Array(taken, 0, header / WORD);
  words.set([runs.length, ...runs.flatMap(([start, end]) => [start, end - start])]);
  const kept = Buffer.from(taken);
  let to = header;
  for (const [start, end] of runs) to += memory.copy(kept, to, start, end);
  return taken;
}

/**
 * Puts the changes into the memory of a guest that has the base state. Throws DamagedChangesError, before anything is
 * written, when they do not fit that memory.
 */
export function putChanges(image: BaseImage, { bytes: memory }: EngineInstance, changes: ArrayBuffer): void {
  const given = Buffer.from(changes);
  const runs = [...readRuns(given)];
  const end = breakAfter(image, given, runs);
  const fits = runs.every(({ start, length }) =>
    start < LAYOUT.stackTop ? start + length <= LAYOUT.staticEnd : start + length <= end,
  );
  if (!fits || end < image.size || end > memory.length) throw new DamagedChangesError('changes outside of the memory');
  for (const { start, length, at } of runs) given.copy(memory, start, at, at + length);
}

interface Run {
  start: number;
  length: number;
  /** Where the bytes stand. */
  at: number;
}

function* readRuns(given: Buffer): Generator<Run> {
  const count = given.length < WORD ? 0 : given.readUInt32LE(0);
  let at = WORD * (1 + 2 * count);
  if (at > given.length) throw new DamagedChangesError('changes that end too early');
  for (let i = 0, last = 0; i < count; i += 1) {
    const start = given.readUInt32LE(WORD * (1 + 2 * i));
    const length = given.readUInt32LE(WORD * (2 + 2 * i));
    if (start < last || at + length > given.length) throw new DamagedChangesError('changes that overlap');
    yield { start, length, at };
    at += length;
    last = start + length;
  }
  if (at !== given.length) throw new DamagedChangesError('changes with something behind them');
}

/** The program break that the memory will have. */
function breakAfter(image: BaseImage, given: Buffer, runs: readonly Run[]): number {
  const { breakAddress } = LAYOUT;
  const run = runs.find(({ start, length }) => start <= breakAddress && breakAddress + WORD <= start + length);
  return run === undefined ? image.size : given.readUInt32LE(run.at + breakAddress - run.start);
}
