import type { CarriedEnd, CellJob } from '#libs/contracts';
import { CellarError, type CellFailure, keepsValues } from '#libs/core';
import type { Doorbells } from '#libs/events';
import {
  type CellEnd,
  type ClaimedCell,
  type CommittedEnd,
  type Database,
  type RunningRow,
  type StretchRef,
  type ValuesOfEnd,
  claimCell,
  endCell,
  spillOutput,
  spillStoppedOutput,
} from '#libs/persistence';
import type { CellOutcome, RunningCell, Slot, StopReason } from '#libs/sandbox';
import { type Events, withCorrelation, withSpan } from '#libs/telemetry';
import { setTimeout as delay } from 'node:timers/promises';
import { OutputBuffer } from './output-buffer.js';

/** Pauses between attempts to commit an end while Postgres is away, in ms: from the first to the last. */
const RETRY_MS = [100, 250, 500, 1_000, 2_000];

/** What a run works with. */
export interface CellRunParts {
  db: Database;
  doorbells: Doorbells;
  events: Events;
  workerId: string;
}

/**
 * One cell on this worker: `claiming -> running -> ending -> gone`. All that it writes is fenced by the row's state,
 * worker and stretch, so a run whose cell was taken from it changes nothing.
 */
export class CellRun {
  readonly cellId: string;
  readonly #parts: CellRunParts;
  readonly #ref: StretchRef;
  readonly #output = new OutputBuffer();
  /** Processes that asked for the stop. */
  readonly #stoppedBy = new Set<string>();
  #guest: RunningCell | undefined;
  #stopReason: StopReason | undefined;
  #observer: string | null = null;
  #yieldTimer: NodeJS.Timeout | undefined;
  /** Spills run one after the other. */
  #spills: Promise<void> = Promise.resolve();
  #abandoned = false;

  constructor(parts: CellRunParts, job: CellJob) {
    this.cellId = job.cellId;
    this.#parts = parts;
    this.#ref = { cellId: job.cellId, stretch: job.stretch, workerId: parts.workerId };
  }

  /** Whether the cell has been claimed: its row says that it runs here. */
  get started(): boolean {
    return this.#guest !== undefined;
  }

  /**
   * Claims the cell and runs it on the slot. Resolves when the script has ended, or there was nothing to do; what is
   * still to be written then is written by the function that it gives.
   */
  async run(slot: Slot): Promise<() => Promise<void>> {
    const finish = await withCorrelation(this.cellId, () => this.#run(slot));
    return () => withCorrelation(this.cellId, finish);
  }

  /** Stops the guest. `terminated`: the row says so already; `by` is told when the output is complete. */
  stop(reason: StopReason, by?: string): void {
    if (by !== undefined) this.#stoppedBy.add(by);
    this.#stopReason ??= reason;
    this.#guest?.stop(reason);
  }

  /** Ends the guest and writes nothing more: this worker counts as lost. */
  abandon(): void {
    this.#abandoned = true;
    this.stop('terminated');
  }

  /** Takes in what the row says now: whether the cell still runs here, and who observes it until when. */
  look(row: RunningRow | undefined): void {
    if (row?.state !== 'running' || row.stretch !== this.#ref.stretch) return this.stop('terminated');
    if (row.observer === null || row.observer === this.#observer) return;
    this.#observer = row.observer;
    this.#guest?.armBoundary();
    this.#yieldIn(row.yieldInMs ?? 0);
  }

  async #run(slot: Slot): Promise<() => Promise<void>> {
    const { db, events, workerId } = this.#parts;
    const attributes = { 'cellar.cell_id': this.cellId };
    const claimed = await withSpan('cell.claim', { attributes }, () => claimCell(db, this.#ref));
    if (!claimed) return () => Promise.resolve();
    const { tenantId } = claimed.owner;
    events.cellStarted({ cellId: this.cellId, tenantId, workerId, queuedMs: claimed.queuedMs });
    const startedAt = performance.now();
    const outcome = await withSpan('cell.run', { attributes }, () => this.#execute(slot, claimed));
    clearTimeout(this.#yieldTimer);
    const wallMs = claimed.queuedMs + performance.now() - startedAt;
    return async () => {
      await this.#spills;
      if (!this.#abandoned) await withSpan('cell.end', { attributes }, () => this.#finish(claimed, outcome, wallMs));
    };
  }

  #execute(slot: Slot, claimed: ClaimedCell): Promise<CellOutcome> {
    const { cpuMs, stretchCpuMs } = claimed.options.limits;
    this.#observer = claimed.observer;
    this.#guest = slot.start(
      {
        cellId: this.cellId,
        tenantId: claimed.owner.tenantId,
        dialect: claimed.dialect,
        source: claimed.source,
        values: claimed.values,
        limits: { cpuMs, stretchCpuMs, deadlineInMs: claimed.deadlineInMs, wallInMs: claimed.wallInMs },
      },
      {
        output: (items) => this.#output.push(items),
        boundary: (items) => this.#spill(items),
        call: ({ callId }) => this.#guest?.settle(callId, { ok: false, message: 'This tool cannot be called here.' }),
        note: () => undefined,
      },
    );
    // A stop may have come while the claim was on its way.
    if (this.#stopReason) this.#guest.stop(this.#stopReason);
    if (claimed.yieldInMs !== undefined) this.#yieldIn(claimed.yieldInMs);
    return this.#guest.outcome;
  }

  #yieldIn(ms: number): void {
    clearTimeout(this.#yieldTimer);
    this.#yieldTimer = setTimeout(() => this.#spill(), Math.max(0, ms));
  }

  /** Puts what there is where the observer can read it, and rings. */
  #spill(boundary?: number): void {
    this.#spills = this.#spills.then(async () => {
      const chunk = this.#output.chunk();
      try {
        const row = await spillOutput(this.#parts.db, this.#ref, chunk, boundary);
        if (!row) return this.stop('terminated');
        this.#output.spilled(chunk);
        this.#ring(row.observer);
      } catch (cause) {
        // What was not written is still in the buffer, and goes out with the next spill or the end.
        this.#parts.events.faulted('output was not spilled', cause, { cellId: this.cellId });
      }
    });
  }

  async #finish(claimed: ClaimedCell, outcome: CellOutcome, wallMs: number): Promise<void> {
    const stopped = this.#stopReason === 'terminated' || outcome.state === 'terminated';
    const committed = stopped ? undefined : await this.#commit(claimed, outcome);
    const { dialect, owner } = claimed;
    const facts = { cellId: this.cellId, tenantId: owner.tenantId, dialect, cpuMs: outcome.cpuMs, wallMs };
    if (committed) {
      this.#parts.events.cellEnded({ ...facts, state: committed.state, code: committed.failure?.code });
      this.#ring(committed.observer, this.#carried(claimed, outcome, committed));
    } else {
      // The row was ended by somebody else: a stop, or the reaper.
      const row = await this.#persist(() =>
        spillStoppedOutput(this.#parts.db, this.#ref, this.#output.chunk(), outcome.cpuMs),
      );
      this.#parts.events.cellEnded({ ...facts, state: 'terminated' });
      this.#ring(row?.observer);
    }
    for (const processId of this.#stoppedBy)
      this.#parts.doorbells.ring(processId, { kind: 'stopped', cellId: this.cellId });
  }

  #ring(observer: string | null | undefined, end?: CarriedEnd): void {
    if (observer) this.#parts.doorbells.ringObserver(this.cellId, observer, end);
  }

  /** The end as the observer would read it; undefined when the row holds more than came with the end. */
  #carried(claimed: ClaimedCell, outcome: CellOutcome, committed: CommittedEnd): CarriedEnd | undefined {
    const { first, items } = this.#output.chunk();
    const { state, failure, boundary, collected, timings } = committed;
    if (state === 'terminated' || boundary !== null || collected !== first) return undefined;
    const { dialect, options, owner } = claimed;
    return {
      tenantId: owner.tenantId,
      dialect,
      state,
      maxOutputTokens: options.maxOutputTokens,
      collected,
      items: [...items],
      ...(failure && { failure }),
      warnings: [...outcome.warnings],
      timings,
    };
  }

  async #commit(claimed: ClaimedCell, outcome: CellOutcome): Promise<CommittedEnd | undefined> {
    const { state, failure, warnings } = outcome;
    const cpuMs = Math.round(outcome.cpuMs * 1_000) / 1_000;
    const end: CellEnd = { state, failure, warnings, cpuMs, output: this.#output.chunk() };
    const values: ValuesOfEnd = {
      owner: claimed.owner,
      branchId: claimed.branchId,
      dialect: claimed.dialect,
      writes: keepsValues(claimed.dialect, state, failure?.code) ? outcome.writes : [],
    };
    try {
      return await this.#persist(() => endCell(this.#parts.db, this.#ref, end, values));
    } catch (cause) {
      // Whatever made the full end impossible must not keep the cell from ending.
      this.#parts.events.faulted('the end of a cell was refused', cause, { cellId: this.cellId });
      const internal: CellFailure = { code: 'internal', message: 'Cellar could not keep the result of this script.' };
      const bare: CellEnd = { ...end, state: 'failed', failure: internal, output: { ...end.output, items: [] } };
      return this.#persist(() => endCell(this.#parts.db, this.#ref, bare));
    }
  }

  /** Tries again for as long as Postgres is away: what a cell has reached is not given up. */
  async #persist<Result>(write: () => Promise<Result>): Promise<Result | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await write();
      } catch (cause) {
        if (this.#abandoned) return undefined;
        if (!(cause instanceof CellarError) || !cause.retryable) throw cause;
        await delay(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
      }
    }
  }
}
