import type { CellJob } from '#libs/contracts';
import type { Doorbells } from '#libs/events';
import type { Offload } from '#libs/offload';
import {
  type ClaimedCell,
  type Database,
  type EndedCall,
  type RunningRow,
  type StretchRef,
  claimCell,
  readEndedCalls,
  spillStoppedOutput,
} from '#libs/persistence';
import type { CellOutcome, RunningCell, Slot, StopReason } from '#libs/sandbox';
import { type Events, withCorrelation, withSpan } from '#libs/telemetry';
import type { ScriptView, ToolViews } from '#libs/tools';
import { carriedEnd } from './carried-end.js';
import { CellCalls } from './cell-calls.js';
import { type CellFacts, commitEnd } from './cell-end.js';
import { CellOutput } from './cell-output.js';
import type { Lease } from './lease.js';
import { untilWritten } from './until-written.js';

/** What a run works with. */
export interface CellRunParts {
  db: Database;
  doorbells: Doorbells;
  events: Events;
  offload: Offload;
  views: ToolViews;
  lease: Lease;
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
  /** Resolves when the job is done: the script has first nothing to run, or has ended, or there was nothing to do. */
  readonly left: Promise<void>;
  readonly #parts: CellRunParts;
  readonly #ref: StretchRef;
  readonly #output: CellOutput;
  /** Processes that asked for the stop. */
  readonly #stoppedBy = new Set<string>();
  #leave: () => void = () => undefined;
  #guest: RunningCell | undefined;
  #calls: CellCalls | undefined;
  #stopReason: StopReason | undefined;
  #abandoned = false;
  #claimedAt = 0;
  #ended = false;

  constructor(parts: CellRunParts, job: CellJob) {
    const { db, doorbells, events, workerId } = parts;
    this.cellId = job.cellId;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    this.#parts = parts;
    this.#ref = { cellId: job.cellId, stretch: job.stretch, workerId };
    const lost = (): void => this.stop('terminated');
    this.#output = new CellOutput({ db, doorbells, events, ref: this.#ref, lost });
  }

  /** Whether the cell has been claimed: its row says that it runs here. */
  get started(): boolean {
    return this.#guest !== undefined;
  }

  /** Claims the cell and runs it, on the slot first. Resolves when all of it is written, or there was nothing to do. */
  async run(slot: Slot): Promise<void> {
    await withCorrelation(this.cellId, () => this.#run(slot));
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
    if (this.#output.observedBy(row.observer, row.yieldInMs ?? 0)) this.#guest?.armBoundary();
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

  async #run(slot: Slot): Promise<void> {
    const facts = await this.#start(slot);
    if (facts) {
      const attributes = { 'cellar.cell_id': this.cellId };
      const outcome = await withSpan('cell.run', { attributes }, async () => (await this.#guest?.outcome) ?? notRun);
      this.#ended = true;
      this.#output[Symbol.dispose]();
      const wallMs = facts.queuedMs + performance.now() - this.#claimedAt;
      this.#leave();
      // Calls that nobody awaited are cancelled by the end, but they were made.
      await this.#calls?.drained();
      this.#calls?.[Symbol.dispose]();
      await this.#output.settled;
      if (!this.#abandoned) await withSpan('cell.end', { attributes }, () => this.#finish(facts, outcome, wallMs));
    }
    this.#leave();
  }

  /** Claims the cell and starts its script. Undefined when the cell is not to be had. */
  async #start(slot: Slot): Promise<CellFacts | undefined> {
    const { db, events, workerId } = this.#parts;
    const attributes = { 'cellar.cell_id': this.cellId };
    const claimed = await withSpan('cell.claim', { attributes }, () => claimCell(db, this.#ref));
    if (!claimed) return undefined;
    this.#claimedAt = performance.now();
    // While the script runs, its source and values are in its own memory.
    const { source, values, ...facts } = claimed;
    const { tenantId } = facts.owner;
    events.cellStarted({ cellId: this.cellId, tenantId, workerId, queuedMs: facts.queuedMs });
    this.#output.observedBy(facts.observer, facts.yieldInMs);
    try {
      this.#begin(slot, facts, { source, values }, await this.#viewOf(facts));
    } catch (cause) {
      events.faulted("a script's tools were not found", cause, { cellId: this.cellId });
    }
    return facts;
  }

  #begin(
    slot: Slot,
    facts: CellFacts,
    { source, values }: Pick<ClaimedCell, 'source' | 'values'>,
    view: ScriptView | undefined,
  ): void {
    const { deadlineInMs, wallInMs, dialect } = facts;
    const { cpuMs, stretchCpuMs } = facts.options.limits;
    const calls = this.#callsOf(view);
    this.#calls = calls;
    const guest = slot.start(
      {
        cellId: this.cellId,
        tenantId: facts.owner.tenantId,
        dialect,
        source,
        values,
        limits: { cpuMs, stretchCpuMs, deadlineInMs, wallInMs },
        ...(view && { view: view.program }),
      },
      {
        output: (items) => this.#output.push(items),
        boundary: (items) => void this.#output.spill(items),
        call: (call) => calls.begin(call),
        note: () => undefined,
        waiting: () => {
          calls.idle();
          this.#leave();
        },
      },
    );
    this.#guest = guest;
    // A stop may have come while the claim was on its way.
    if (this.#stopReason) guest.stop(this.#stopReason);
  }

  /** Tries again for as long as Postgres is away: a script must not run with other tools than its own. */
  async #viewOf({ owner, view: hash, memberId }: CellFacts): Promise<ScriptView | undefined> {
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
      mayAct: () => this.#parts.lease.mayAct(() => this.#abandoned),
      settle: (number, result) => this.#guest?.settle(number, result),
      spill: () => this.#output.spillIfAny(),
      made: (observer) => this.#output.ring(observer),
      ended: () => this.#ended,
      lost: () => this.stop('terminated'),
      look: () => void this.lookAtCalls(),
    });
  }

  async #finish(facts: CellFacts, outcome: CellOutcome, wallMs: number): Promise<void> {
    const { db, doorbells, events } = this.#parts;
    const stopped = this.#stopReason === 'terminated' || outcome.state === 'terminated';
    const rest = this.#output.rest();
    const parts = { db, events, ref: this.#ref, persist: this.#persist.bind(this) };
    const committed = stopped ? undefined : await commitEnd(parts, facts, outcome, rest);
    const { dialect, owner } = facts;
    const ended = { cellId: this.cellId, tenantId: owner.tenantId, dialect, cpuMs: outcome.cpuMs, wallMs };
    if (committed) {
      events.cellEnded({ ...ended, state: committed.state, code: committed.failure?.code });
      const carried = this.#calls?.anyMade === true ? undefined : carriedEnd(facts, outcome, committed, rest);
      this.#output.ring(committed.observer, carried);
    } else {
      // The row was ended by somebody else: a stop, or the reaper.
      const row = await this.#persist(() => spillStoppedOutput(db, this.#ref, rest, outcome.cpuMs));
      events.cellEnded({ ...ended, state: 'terminated' });
      this.#output.ring(row?.observer);
    }
    for (const processId of this.#stoppedBy) doorbells.ring(processId, { kind: 'stopped', cellId: this.cellId });
  }

  #persist<Result>(write: () => Promise<Result>): Promise<Result | undefined> {
    return untilWritten(write, () => this.#abandoned);
  }
}
