import { Worker } from 'node:worker_threads';
import type { ActiveCell } from './active-cell.js';
import type { SandboxAssets } from './assets.js';
import { OutputJournal } from './journal.js';
import { parseFromThread, SIGNAL, type FromThread, type ThreadSetup } from './protocol.js';

/** The C stack of the engine uses the thread's own stack: enough for every recursion that the engine allows. */
const THREAD_STACK_MB = 16;

/** What a thread tells its pool. */
export interface ThreadEvents {
  /** The thread is free again. */
  idle(): void;
  /** The thread will not serve again and is on its way out. */
  retiring(reason: string): void;
  /** The thread is gone. */
  gone(): void;
  /** Something went wrong that no cell is told about. */
  fault(error: unknown): void;
}

/** `starting`, then `idle` and `busy` in turn, then `retiring`, then `gone`. Each state is entered once more at most. */
export type ThreadState = 'starting' | 'idle' | 'busy' | 'retiring' | 'gone';

/** One sandbox thread, seen from the main side. */
export class ThreadHandle {
  state: ThreadState = 'starting';
  private readonly signals = new Int32Array(new SharedArrayBuffer(SIGNAL.count * Int32Array.BYTES_PER_ELEMENT));
  private readonly journalMemory = OutputJournal.allocate();
  private readonly journal = new OutputJournal(this.journalMemory);
  private readonly worker: Worker;
  private readonly exited: Promise<void>;
  private cell: ActiveCell | undefined;
  /** Whether it was ever ready: only then does the pool count it. */
  private served = false;
  private refusal: Error | undefined;

  private constructor(
    assets: SandboxAssets,
    verifyRestores: boolean,
    private readonly events: ThreadEvents,
    private readonly onReady: () => void,
  ) {
    const setup: ThreadSetup = {
      module: assets.module,
      prelude: assets.prelude,
      imageVersion: assets.imageVersion,
      signals: this.signals.buffer,
      journal: this.journalMemory,
      verifyRestores,
    };
    this.worker = new Worker(assets.threadEntry, {
      workerData: setup,
      resourceLimits: { stackSizeMb: THREAD_STACK_MB },
      env: {},
      argv: [],
      execArgv: [],
      name: 'cellar-sandbox',
    });
    this.worker.on('message', (message: unknown) => this.receive(message));
    this.worker.on('messageerror', (error) => this.retire(`an unreadable message: ${error.message}`));
    this.worker.on('error', (error) => this.failed(error));
    this.exited = new Promise((resolve) => this.worker.once('exit', () => resolve(this.left())));
  }

  /** Starts a thread; settles when it is ready. Rejects when it refuses or dies before that. */
  static start(assets: SandboxAssets, verifyRestores: boolean, events: ThreadEvents): Promise<ThreadHandle> {
    return new Promise((resolve, reject) => {
      const handle: ThreadHandle = new ThreadHandle(assets, verifyRestores, events, () => resolve(handle));
      void handle.exited.then(() => reject(handle.refusal ?? new Error('A sandbox thread ended before it was ready.')));
    });
  }

  /** Takes a cell in, which starts or goes on. The thread must be idle. */
  take(cell: ActiveCell): void {
    if (this.state !== 'idle') throw new Error(`a thread that is ${this.state} cannot take a cell`);
    this.state = 'busy';
    this.cell = cell;
    cell.attach({
      signals: this.signals,
      journal: this.journal,
      post: (message, handedOver) => this.worker.postMessage(message, handedOver),
      kill: (reason) => this.retire(reason),
      release: (retire) => this.release(retire),
    });
  }

  /** Ends the thread, whatever it does; settles when it is gone. */
  async close(): Promise<void> {
    this.retire('the pool is closed');
    await this.exited;
  }

  private receive(raw: unknown): void {
    const message = parseFromThread(raw);
    if (message === undefined) this.retire('a message that is not in the protocol');
    else if (message.type === 'ready') this.ready();
    else if (message.type === 'refused') this.refuse(message.reason);
    else this.forCell(message);
  }

  private forCell(message: Exclude<FromThread, { type: 'ready' | 'refused' }>): void {
    if (this.cell?.number === message.cell) this.cell.receive(message);
  }

  private ready(): void {
    if (this.state !== 'starting') return;
    this.state = 'idle';
    this.served = true;
    this.onReady();
  }

  private refuse(reason: string): void {
    this.refusal = new Error(`A sandbox thread refuses to serve: ${reason}.`);
    this.retire(reason);
  }

  private release(retire: string | null): void {
    this.cell = undefined;
    if (retire !== null) this.retire(retire);
    else if (this.state === 'busy') {
      this.state = 'idle';
      this.events.idle();
    }
  }

  private failed(error: Error): void {
    this.refusal ??= error;
    this.events.fault(error);
    this.retire(`${error.name}: ${error.message}`);
  }

  private retire(reason: string): void {
    if (this.state === 'retiring' || this.state === 'gone') return;
    this.state = 'retiring';
    if (this.served) this.events.retiring(reason);
    void this.worker.terminate();
  }

  /** Messages sent before the end of the thread have been handled: Node delivers them before `exit`. */
  private left(): void {
    if (this.served && this.state !== 'retiring') this.events.retiring('the thread ended by itself');
    this.state = 'gone';
    const { cell } = this;
    this.cell = undefined;
    if (this.served) this.events.gone();
    cell?.threadGone();
  }
}
