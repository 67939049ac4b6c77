import type { Dialect, MediaItem, OutputItem } from '#libs/core';
import type {
  CellBasis,
  CellLimits,
  CellListener,
  CellOutcome,
  ProgramCall,
  ProgramView,
  RunningCell,
  SandboxRunner,
} from '#libs/sandbox';
import { createSandboxPool, type SandboxPoolOptions } from '#libs/sandbox';

/** How a test runs a script; what is left out has a value that fits most tests. */
export interface RunOptions {
  dialect?: Dialect;
  tenantId?: string;
  values?: Record<string, string>;
  limits?: Partial<CellLimits>;
  /** Called with the cell once it has started, and at each output and boundary. */
  onStart?: (cell: RunningCell) => void;
  onOutput?: (item: OutputItem, cell: RunningCell) => void;
  onBoundary?: (items: number, cell: RunningCell) => void;
  view?: ProgramView;
  /** Called with each tool call; left out, calls stay open. */
  onCall?: (call: ProgramCall, cell: RunningCell) => void;
  /** Called each time when the script has nothing to run. */
  onWaiting?: (cell: RunningCell) => void;
}

/** A cell that fits most tests. */
export const testBasis: CellBasis = {
  cellId: 'c_0000000000000000',
  tenantId: 't_1',
  limits: { cpuMs: 20_000, stretchCpuMs: 10_000, wallInMs: 60_000 },
};

/** A listener that hears nothing. */
export const deaf: CellListener = {
  output: () => undefined,
  boundary: () => undefined,
  call: () => undefined,
  note: () => undefined,
  waiting: () => undefined,
};

/** What came of a script. */
export interface RunResult extends CellOutcome {
  texts: string[];
  lines: string[];
  boundaries: number[];
  media: MediaItem[];
  calls: ProgramCall[];
  notes: string[];
  elapsedMs: number;
}

/** A pool that compares the whole memory with the base image after every cell, and what it told. */
export class TestPool {
  private constructor(
    readonly runner: SandboxRunner,
    /** Why threads were retired. */
    readonly retired: string[],
    readonly faults: unknown[],
  ) {}

  static async create(slots = 1, verifyRestores = true, more: Partial<SandboxPoolOptions> = {}): Promise<TestPool> {
    const retired: string[] = [];
    const faults: unknown[] = [];
    const runner = await createSandboxPool({
      slots,
      verifyRestores,
      ...more,
      onThreadRetired: (reason) => retired.push(reason),
      onFault: (error) => faults.push(error),
    });
    return new TestPool(runner, retired, faults);
  }

  async run(source: string, options: RunOptions = {}): Promise<RunResult> {
    const slot = await this.runner.acquire();
    const texts: string[] = [];
    const lines: string[] = [];
    const boundaries: number[] = [];
    const media: MediaItem[] = [];
    const calls: ProgramCall[] = [];
    const notes: string[] = [];
    const startedAt = performance.now();
    const cell = slot.start(
      {
        ...testBasis,
        ...(options.tenantId === undefined ? {} : { tenantId: options.tenantId }),
        dialect: options.dialect ?? 'exec',
        source,
        values: new Map(Object.entries(options.values ?? {})),
        limits: { ...testBasis.limits, ...options.limits },
        ...(options.view && { view: options.view }),
      },
      {
        output: (items) => {
          for (const item of items) {
            if (item.kind === 'text') texts.push(item.text);
            else if (item.kind === 'console') lines.push(item.text);
            else media.push(item);
            options.onOutput?.(item, cell);
          }
        },
        boundary: (items) => {
          boundaries.push(items);
          options.onBoundary?.(items, cell);
        },
        call: (call) => {
          calls.push(call);
          options.onCall?.(call, cell);
        },
        note: (text) => notes.push(text),
        waiting: () => options.onWaiting?.(cell),
      },
    );
    options.onStart?.(cell);
    const outcome = await cell.outcome;
    return { ...outcome, texts, lines, boundaries, media, calls, notes, elapsedMs: performance.now() - startedAt };
  }

  /** Closes the pool. Throws when a listener or a thread failed, or a thread was retired that should not have been. */
  async close(mayRetire = false): Promise<void> {
    await this.runner[Symbol.asyncDispose]();
    if (this.faults.length > 0) throw new AggregateError(this.faults, 'the sandbox reported faults');
    if (this.retired.length > 0 && !mayRetire) throw new Error(`threads were retired: ${this.retired.join('; ')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runner[Symbol.asyncDispose]();
  }
}
