import { setTimeout as pause } from 'node:timers/promises';
import { loadAssets, type SandboxAssets } from './assets.js';
import type { PoolStats, SandboxRunner, Slot } from './port.js';
import { PoolSlot } from './slot.js';
import { ThreadHandle } from './thread-handle.js';

/** Pauses between attempts to replace a thread that does not start, in ms: doubled up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** How a pool is made. */
export interface SandboxPoolOptions {
  /** Number of threads: how many scripts run at a time. */
  slots: number;
  /** Told when a thread is retired, with the reason: for metrics and logs. */
  onThreadRetired?: (reason: string) => void;
  /** Told of faults that end no cell: a listener that threw, a thread that could not be started. */
  onFault?: (error: unknown) => void;
  /**
   * Compares the whole memory with the base image after every cell and retires the thread when they differ. Costs tens
   * of milliseconds per cell: for tests.
   */
  verifyRestores?: boolean;
}

/**
 * Starts a pool of sandbox threads; settles when all are ready. Rejects when the threads have not been built, or when
 * their base image is not the pinned one (then no script would start from the state that was tested).
 */
export async function createSandboxPool(options: SandboxPoolOptions): Promise<SandboxRunner> {
  if (!Number.isSafeInteger(options.slots) || options.slots < 1) {
    throw new RangeError(`A sandbox pool needs at least one slot, and slots is ${options.slots}.`);
  }
  const pool = new SandboxPool(options, await loadAssets());
  try {
    await pool.start();
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
  return pool;
}

interface Waiter {
  resolve(slot: Slot): void;
  reject(reason: unknown): void;
}

class SandboxPool implements SandboxRunner {
  /** Threads that have not ended, the starting ones excepted. */
  private readonly threads = new Set<ThreadHandle>();
  /** Free threads; the one used last is taken first, because its memory is warm. */
  private readonly free: ThreadHandle[] = [];
  private readonly waiters = new Set<Waiter>();
  private readonly closing = new AbortController();
  private readonly replacements = new Set<Promise<void>>();

  constructor(
    private readonly options: SandboxPoolOptions,
    private readonly assets: SandboxAssets,
  ) {}

  get imageVersion(): string {
    return this.assets.imageVersion;
  }

  /** Starts the first threads. */
  async start(): Promise<void> {
    const started = await Promise.allSettled(Array.from({ length: this.options.slots }, () => this.startThread()));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  acquire(signal?: AbortSignal): Promise<Slot> {
    if (this.closing.signal.aborted) return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const thread = this.free.pop();
    if (thread !== undefined) return Promise.resolve(this.slotOf(thread));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.waiters.delete(waiter);
        reject(signal?.reason as Error);
      };
      const settled = (): void => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        resolve: (slot) => (settled(), resolve(slot)),
        reject: (reason) => (settled(), reject(reason)),
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiters.add(waiter);
    });
  }

  stats(): PoolStats {
    const counts = { busy: 0, retiring: 0 };
    for (const { state } of this.threads) {
      if (state === 'busy') counts.busy += 1;
      if (state === 'retiring') counts.retiring += 1;
    }
    return {
      threads: this.threads.size,
      idle: this.free.length,
      ...counts,
      respawning: this.closing.signal.aborted ? 0 : this.options.slots - this.threads.size,
      waiting: this.waiters.size,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closing.abort();
    for (const waiter of this.waiters) waiter.reject(closedError());
    this.waiters.clear();
    this.free.length = 0;
    await Promise.all(this.replacements);
    await Promise.all([...this.threads].map((thread) => thread.close()));
  }

  private async startThread(): Promise<void> {
    const thread = await ThreadHandle.start(this.assets, this.options.verifyRestores ?? false, {
      idle: () => this.offer(thread),
      retiring: (reason) => {
        const at = this.free.indexOf(thread);
        if (at !== -1) this.free.splice(at, 1);
        if (!this.closing.signal.aborted) this.options.onThreadRetired?.(reason);
      },
      gone: () => {
        this.threads.delete(thread);
        this.replace();
      },
      fault: (error) => this.options.onFault?.(error),
    });
    if (thread.state !== 'gone') this.threads.add(thread);
    this.offer(thread);
  }

  /** Starts a thread in the place of one that is gone, with growing pauses while that fails. */
  private replace(): void {
    if (this.closing.signal.aborted) return;
    const done = this.tryToReplace().finally(() => this.replacements.delete(done));
    this.replacements.add(done);
  }

  private async tryToReplace(): Promise<void> {
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !this.closing.signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      try {
        await this.startThread();
        return;
      } catch (error) {
        this.options.onFault?.(error);
        await pause(pauseMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Gives a free thread to the caller who has waited longest, or keeps it. */
  private offer(thread: ThreadHandle): void {
    if (this.closing.signal.aborted || thread.state !== 'idle') return;
    const [first] = this.waiters;
    if (first === undefined) {
      this.free.push(thread);
      return;
    }
    this.waiters.delete(first);
    first.resolve(this.slotOf(thread));
  }

  private slotOf(thread: ThreadHandle): Slot {
    return new PoolSlot(thread, (unused) => this.offer(unused));
  }
}

function closedError(): Error {
  return new Error('The sandbox pool is closed.');
}
