import type { CellJob } from '#libs/contracts';
import { lookAtRunning, readEndedCalls } from '#libs/persistence';
import type { SandboxRunner } from '#libs/sandbox';
import { CellRun, type CellRunParts } from './cell-run.js';

/** Between two looks at the rows of all running cells, in ms: the net under the doorbells. */
const LOOK_MS = 1_000;

/** The cells that this worker has, and what reaches them from outside: stops, new observers, and its own end. */
export class HeldCells implements AsyncDisposable {
  readonly #parts: CellRunParts;
  readonly #sandbox: SandboxRunner;
  readonly #runs = new Map<string, CellRun>();
  #timer: NodeJS.Timeout | undefined;
  #draining = false;
  #idle: (() => void) | undefined;

  constructor(parts: CellRunParts, sandbox: SandboxRunner) {
    this.#parts = parts;
    this.#sandbox = sandbox;
    this.#schedule();
  }

  get size(): number {
    return this.#runs.size;
  }

  /**
   * Runs the cell of a job: first a thread, then the claim, so that no claimed cell waits for a thread. The job is over
   * when the script is, or waits: its thread is free for the next one while the end is committed, or calls are made.
   */
  async run(job: CellJob): Promise<void> {
    if (this.#draining) return;
    const slot = await this.#sandbox.acquire();
    if (this.#draining || this.#runs.has(job.cellId)) {
      slot[Symbol.dispose]();
      return;
    }
    const run = new CellRun(this.#parts, job);
    this.#runs.set(job.cellId, run);
    const gone = run.run(slot).finally(() => {
      slot[Symbol.dispose]();
      this.#gone(job.cellId);
    });
    gone.catch((cause: unknown) => this.#parts.events.faulted('a cell was not run to its end', cause));
    await Promise.race([run.left, gone]);
  }

  #gone(cellId: string): void {
    this.#runs.delete(cellId);
    if (this.#runs.size === 0) this.#idle?.();
  }

  /** A stop was committed. Confirms at once when the cell is not here (any more). */
  stop(cellId: string, replyTo: string): void {
    const run = this.#runs.get(cellId);
    if (run) run.stop('terminated', replyTo);
    else this.#parts.doorbells.ring(replyTo, { kind: 'stopped', cellId });
  }

  /** Reads the rows of these cells (of all, by default) and hands each to its run. */
  async look(cellIds: readonly string[] = [...this.#runs.keys()]): Promise<void> {
    const known = cellIds.filter((id) => this.#runs.get(id)?.started);
    if (known.length === 0) return;
    const rows = await lookAtRunning(this.#parts.db, this.#parts.workerId, known);
    const byId = new Map(rows.map((row) => [row.cellId, row]));
    for (const id of known) this.#runs.get(id)?.look(byId.get(id));
    const open = known.flatMap((id) => this.#runs.get(id)?.openCalls ?? []);
    if (open.length === 0) return;
    const ended = await readEndedCalls(this.#parts.db, open);
    for (const call of ended) this.#runs.get(call.cellId)?.callEnded(call);
  }

  /** Results of a cell's calls have come. */
  async lookAtCalls(cellId: string): Promise<void> {
    await this.#runs.get(cellId)?.lookAtCalls();
  }

  /** Takes no more cells; gives the running ones `graceMs`, then ends them as `worker_draining`. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    if (this.#runs.size === 0) return;
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    const late = setTimeout(() => this.#stopAll(), graceMs);
    await idle;
    clearTimeout(late);
  }

  /** This worker counts as lost: every guest ends and nothing more is written. */
  abandon(): void {
    this.#draining = true;
    for (const run of this.#runs.values()) run.abandon();
  }

  [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return Promise.resolve();
  }

  #stopAll(): void {
    for (const run of this.#runs.values()) run.stop('worker_draining');
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.look()
        .catch((cause: unknown) => this.#parts.events.faulted('running cells were not looked at', cause))
        .finally(() => this.#timer && this.#schedule());
    }, LOOK_MS);
  }
}
