import type { CarriedEnd, CellJob } from '#libs/contracts';
import { type CellFailure, keepsValues } from '#libs/core';
import type { Doorbells } from '#libs/events';
import type { Offload } from '#libs/offload';
import {
  type CellEnd,
  type ClaimedCell,
  type CommittedEnd,
  type Database,
  type EndedCall,
  type RunningRow,
  type StretchRef,
  type ValuesOfEnd,
  claimCell,
  endCell,
  readEndedCalls,
  spillOutput,
  spillStoppedOutput,
} from '#libs/persistence';
import type { CellOutcome, RunningCell, Slot, StopReason } from '#libs/sandbox';
import { type Events, withCorrelation, withSpan } from '#libs/telemetry';
import type { ScriptView, ToolViews } from '#libs/tools';
import { carriedEnd } from './carried-end.js';
import { CellCalls } from './cell-calls.js';
import { OutputBuffer } from './output-buffer.js';
import { untilWritten } from './until-written.js';

/** What a run works with. */
export interface CellRunParts {
  db: Database;
  doorbells: Doorbells;
  events: Events;
  offload: Offload;
  views: ToolViews;
  workerId: string;
}

/** A script that could not be given its tools. */
const notRun: CellOutcome = {
  state: 'failed',
  failure: { code: 'internal', message: 'Cellar could not give this script its tools. It has not run; try it again.' },
  writes: [],
  warnings: [],
  openCalls: [],
  cpuMs: 0,
};

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
  #calls: CellCalls | undefined;
  #stopReason: StopReason | undefined;
  #observer: string | null = null;
  #yieldTimer: NodeJS.Timeout | undefined;
  /** Spills run one after the other. */
  #spills: Promise<void> = Promise.resolve();
  #abandoned = false;
  #ended = false;

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

  /** Ids of the calls whose ends the script waits for. */
  get openCalls(): string[] {
    return this.#calls?.openIds ?? [];
  }

  /** A call of this cell has ended. */
  callEnded(ended: EndedCall): void {
    this.#calls?.end(ended);
  }

  /** Reads which calls of this cell have ended, and tells the script. */
  async lookAtCalls(): Promise<void> {
    const { db, events } = this.#parts;
    if (this.openCalls.length === 0) return;
    try {
      for (const ended of await readEndedCalls(db, this.openCalls)) this.callEnded(ended);
    } catch (cause) {
      // They are looked at once a second.
      events.faulted('the ends of calls were not read', cause, { cellId: this.cellId });
    }
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
      // Calls that nobody awaited are cancelled by the end, but they were made.
      await this.#calls?.drained();
      this.#calls?.[Symbol.dispose]();
      await this.#spills;
      if (!this.#abandoned) await withSpan('cell.end', { attributes }, () => this.#finish(claimed, outcome, wallMs));
    };
  }

  async #execute(slot: Slot, claimed: ClaimedCell): Promise<CellOutcome> {
    const { cpuMs, stretchCpuMs } = claimed.options.limits;
    this.#observer = claimed.observer;
    const { tenantId } = claimed.owner;
    let view: ScriptView | undefined;
    try {
      view = await this.#viewOf(claimed);
    } catch (cause) {
      this.#parts.events.faulted("a script's tools were not found", cause, { cellId: this.cellId });
      return notRun;
    }
    const calls = this.#callsOf(view);
    this.#calls = calls;
    this.#guest = slot.start(
      {
        cellId: this.cellId,
        tenantId,
        dialect: claimed.dialect,
        source: claimed.source,
        values: claimed.values,
        limits: { cpuMs, stretchCpuMs, deadlineInMs: claimed.deadlineInMs, wallInMs: claimed.wallInMs },
        ...(view && { view: view.program }),
      },
      {
        output: (items) => this.#output.push(items),
        boundary: (items) => this.#spill(items),
        call: (call) => calls.begin(call),
        note: () => undefined,
        waiting: () => undefined,
      },
    );
    // A stop may have come while the claim was on its way.
    if (this.#stopReason) this.#guest.stop(this.#stopReason);
    if (claimed.yieldInMs !== undefined) this.#yieldIn(claimed.yieldInMs);
    const outcome = await this.#guest.outcome;
    this.#ended = true;
    return outcome;
  }

  /** Tries again for as long as Postgres is away: a script must not run with other tools than its own. */
  async #viewOf({ owner, view: hash, memberId }: ClaimedCell): Promise<ScriptView | undefined> {
    if (hash === null) return undefined;
    return this.#persist(() => this.#parts.views.find(owner.tenantId, hash, memberId));
  }

  #callsOf(view: ScriptView | undefined): CellCalls {
    const { db, offload, events } = this.#parts;
    return new CellCalls({
      db,
      offload,
      events,
      ref: this.#ref,
      view,
      persist: (write) => this.#persist(write),
      settle: (number, result) => this.#guest?.settle(number, result),
      spill: () => {
        if (!this.#output.isEmpty) this.#spill();
        return this.#spills;
      },
      made: (observer) => this.#ring(observer),
      ended: () => this.#ended,
      lost: () => this.stop('terminated'),
      look: () => void this.lookAtCalls(),
    });
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
      const carried =
        this.#calls?.anyMade === true ? undefined : carriedEnd(claimed, outcome, committed, this.#output.chunk());
      this.#ring(committed.observer, carried);
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

  #persist<Result>(write: () => Promise<Result>): Promise<Result | undefined> {
    return untilWritten(write, () => this.#abandoned);
  }
}
