import { setTimeout as pause } from 'node:timers/promises';
import { ActiveCell, type CellKeeper, type CellState } from './active-cell.js';
import { loadAssets, type SandboxAssets } from './assets.js';
import type { CellEntry } from './cell-entry.js';
import type { CellBasis, CellListener, PoolStats, SandboxRunner, Slot } from './port.js';
import { RestingCells } from './resting-cells.js';
import { PoolSlot, type SlotKeeper } from './slot.js';
import { ThreadHandle } from './thread-handle.js';

/** Pauses between attempts to replace a thread that does not start, in ms: doubled up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Memory that sleeping scripts may hold together, in bytes; further ones wait on their threads. */
const HIBERNATED_BYTES = 1024 * 1024 * 1024;

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
  /** Memory that waiting scripts without a thread may hold together, in bytes; 1 GiB when left out. */
  hibernatedBytes?: number;
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

class SandboxPool implements SandboxRunner, CellKeeper, SlotKeeper {
  /** Threads that have not ended, the starting ones excepted. */
  private readonly threads = new Set<ThreadHandle>();
  /** Free threads; the one used last is taken first, because its memory is warm. */
  private readonly free: ThreadHandle[] = [];
  private readonly waiters = new Set<Waiter>();
  private readonly closing = new AbortController();
  private readonly replacements = new Set<Promise<void>>();
  private readonly cells = new Set<ActiveCell>();
  private readonly resting: RestingCells;
  private lastCell = 0;
  /** Whether the last thread went to a cell that is due: newcomers and due cells take turns. */
  private servedDue = false;

  constructor(
    private readonly options: SandboxPoolOptions,
    private readonly assets: SandboxAssets,
  ) {
    this.resting = new RestingCells(options.hibernatedBytes ?? HIBERNATED_BYTES);
  }

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
    if (thread !== undefined) return Promise.resolve(new PoolSlot(thread, this));
    const slot = new Promise<Slot>((resolve, reject) => {
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
    this.serve();
    return slot;
  }

  /** A cell of this pool that has no thread yet. */
  newCell(basis: CellBasis, entry: CellEntry, listener: CellListener): ActiveCell {
    this.lastCell += 1;
    const cell = new ActiveCell(this.lastCell, basis, entry, listener, this, this.imageVersion);
    this.cells.add(cell);
    return cell;
  }

  /** A thread is free again. */
  giveBack(thread: ThreadHandle): void {
    if (this.closing.signal.aborted || thread.state !== 'idle') return;
    this.free.push(thread);
    this.serve();
  }

  entered(cell: ActiveCell, state: CellState): void {
    this.resting.entered(cell, state);
    if (state === 'over') this.cells.delete(cell);
    if (state === 'due' || state === 'waiting') this.serve();
  }

  fault(error: unknown): void {
    this.options.onFault?.(error);
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
      ...this.resting.counts,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closing.abort();
    for (const waiter of this.waiters) waiter.reject(closedError());
    this.waiters.clear();
    this.free.length = 0;
    await Promise.all(this.replacements);
    await Promise.all([...this.threads].map((thread) => thread.close()));
    // Those without a thread.
    for (const cell of this.cells) cell.stop('terminated');
  }

  private async startThread(): Promise<void> {
    const thread = await ThreadHandle.start(this.assets, this.options.verifyRestores ?? false, {
      idle: () => this.giveBack(thread),
      retiring: (reason) => {
        const at = this.free.indexOf(thread);
        if (at !== -1) this.free.splice(at, 1);
        if (!this.closing.signal.aborted) this.options.onThreadRetired?.(reason);
      },
      gone: () => {
        this.threads.delete(thread);
        this.replace();
      },
      fault: (error) => this.fault(error),
    });
    if (thread.state !== 'gone') this.threads.add(thread);
    this.giveBack(thread);
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
        this.fault(error);
        await pause(pauseMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Gives free threads to newcomers and due cells in turn, each in their order; waiting cells make room for the rest. */
  private serve(): void {
    const { due } = this.resting;
    if (this.closing.signal.aborted) return;
    for (let thread = this.free.at(-1); thread !== undefined; thread = this.free.at(-1)) {
      const [waiter] = this.waiters;
      const [cell] = due;
      if (waiter === undefined && cell === undefined) return;
      this.free.pop();
      this.servedDue = cell !== undefined && (waiter === undefined || !this.servedDue);
      if (this.servedDue && cell !== undefined) thread.take(cell);
      else if (waiter !== undefined) {
        this.waiters.delete(waiter);
        waiter.resolve(new PoolSlot(thread, this));
      }
    }
    this.resting.makeRoom(this.waiters.size + due.size);
  }
}

function closedError(): Error {
  return new Error('The sandbox pool is closed.');
}
