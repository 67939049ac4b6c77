import type { Piscina } from 'piscina';
import { NOT_BEGUN } from './protocol.js';

/** What became of a task that had to end in time. */
export type Timed<Result> =
  | { kind: 'done'; result: Result }
  /** The thread was killed; `at` is the progress that it had told last. */
  | { kind: 'killed'; at: number };

/** How long a task may take, in ms. */
export interface TimeLimits {
  /** Waiting for a thread. */
  queueMs: number;
  /** From when the thread tells a progress for which this is the limit. */
  runMs: (at: number) => number;
  /** Between two looks. */
  everyMs: number;
}

/**
 * Runs a task and kills its thread when it takes too long. The time that a task waits for a thread is not its own, so
 * it counts from when the thread says that it has begun.
 */
export async function runTimed<Task extends { progress: Int32Array<SharedArrayBuffer> }, Result>(
  pool: Piscina<Task, Result>,
  task: Omit<Task, 'progress'>,
  { queueMs, runMs, everyMs }: TimeLimits,
): Promise<Timed<Result>> {
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(NOT_BEGUN);
  const killer = new AbortController();
  let since = performance.now();
  let seen = NOT_BEGUN;
  const watch = setInterval(() => {
    const now = performance.now();
    const at = Atomics.load(progress, 0);
    const begins = seen === NOT_BEGUN || runMs(at) !== runMs(seen);
    if (at !== seen && begins) since = now;
    seen = at;
    if (now - since > (at === NOT_BEGUN ? queueMs : runMs(at))) killer.abort();
  }, everyMs);
  try {
    return {
      kind: 'done',
      result: await pool.run({ ...task, progress } as unknown as Task, { signal: killer.signal }),
    };
  } catch (thrown) {
    if (!killer.signal.aborted) throw thrown;
    return { kind: 'killed', at: Atomics.load(progress, 0) };
  } finally {
    clearInterval(watch);
  }
}
