import { CellNotFoundError, ClientGoneError, type Clock, ObserverBusyError, type Owner, isTerminal } from '#libs/core';
import type { CarriedEnd } from '#libs/contracts';
import type { Doorbells } from '#libs/events';
import {
  type CallsOfCell,
  type CellView,
  type Database,
  leavePlace,
  listCalls,
  renewPlaces,
  takePlace,
  viewCell,
} from '#libs/persistence';
import type { Events } from '#libs/telemetry';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIRM_MS } from './cell-stopper.js';
import { Observations, type Observation } from './observations.js';
import { type Verdict, verdictOf } from './verdict.js';

/** A worker spills at the end of the observation; one that lives does so at once, and is waited for this long, in ms. */
const SPILL_GRACE_MS = 1_000;
/** The database's clock decides when the time is over: this process looks a little later, in ms. */
const LOOK_LATER_MS = 2;
/** How long a request looks again when an answer that was just written is not marked yet, and between looks, in ms. */
const JUST_WRITTEN_MS = 100;
const LOOK_AGAIN_MS = 10;
/** Leases are renewed and rows looked at this often, in ms: the net under the doorbells. */
const RENEW_MS = 1_000;

/** What an observation came to. */
export interface Observed {
  view: CellView;
  verdict: Verdict;
  calls: CallsOfCell;
}

/** Of a cell that has called nothing. */
const NO_CALLS: CallsOfCell = { newest: [], open: [] };

/** Observes cells for requests of this process: one observer per cell over all processes, by a token in the row. */
export class CellObserver implements AsyncDisposable {
  readonly observations: Observations;
  readonly #db: Database;
  readonly #doorbells: Doorbells;
  readonly #clock: Clock;
  readonly #events: Events;
  readonly #drain = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, doorbells: Doorbells, events: Events, clock: Clock, processId: string) {
    this.#events = events;
    this.#db = db;
    this.#doorbells = doorbells;
    this.#clock = clock;
    this.observations = new Observations(processId);
    this.#schedule();
  }

  /**
   * Takes the observer's place of a cell. Throws CellNotFoundError, or ObserverBusyError when another request has it;
   * an answer that was just written and is not marked yet is given 100 ms (9. Protocols, 16).
   */
  async take(owner: Owner, observation: Observation, yieldInMs: number): Promise<void> {
    const until = this.#clock.monotonic() + JUST_WRITTEN_MS;
    for (;;) {
      const place = await takePlace(this.#db, owner, observation.cellId, observation.observer, yieldInMs);
      if (place.taken) {
        const { workerId, state } = place;
        if (workerId !== null && !isTerminal(state)) {
          this.#doorbells.ring(workerId, { kind: 'observe', cellId: observation.cellId });
        }
        observation.ring();
        return;
      }
      if (place.why === 'none') throw new CellNotFoundError();
      if (this.#clock.monotonic() >= until) {
        throw place.why === 'ended' ? new CellNotFoundError() : new ObserverBusyError(observation.cellId);
      }
      await delay(LOOK_AGAIN_MS);
    }
  }

  /**
   * Waits until there is something to answer. `signal` aborts when the client goes away: the place is freed at once and
   * nothing has been collected. Throws CellNotFoundError when the cell is gone, or another request has the place.
   */
  async observe(owner: Owner, observation: Observation, yieldInMs: number, signal: AbortSignal): Promise<Observed> {
    const start = this.#clock.monotonic();
    const leaving = AbortSignal.any([signal, this.#drain.signal]);
    let stopSeenAt: number | undefined;
    for (;;) {
      const over = start + yieldInMs - this.#clock.monotonic();
      const left = over > 0 ? over + LOOK_LATER_MS : over + SPILL_GRACE_MS;
      await observation.news(stopSeenAt === undefined ? left : Math.min(left, CONFIRM_MS), leaving);
      if (signal.aborted) throw new ClientGoneError();
      if (observation.end) return carried(observation, observation.end);
      const view = await viewCell(this.#db, owner, observation.cellId);
      if (view?.observer !== observation.observer) throw new CellNotFoundError();
      const now = this.#clock.monotonic();
      if (view.state === 'terminated' && !view.complete) stopSeenAt ??= now;
      const verdict = verdictOf(view, {
        timeOver: leaving.aborted || now >= start + yieldInMs + SPILL_GRACE_MS,
        stopOver: stopSeenAt !== undefined && now >= stopSeenAt + CONFIRM_MS,
      });
      if (!verdict) continue;
      // An answer `running` rests on rows that committed asynchronously: this commit flushes them, and shows that the
      // place is still ours.
      if (verdict.state === 'running') {
        const kept = await renewPlaces(this.#db, [observation]);
        if (!kept.has(observation.observer)) throw new CellNotFoundError();
      }
      return { view, verdict, calls: await this.callsOf(view) };
    }
  }

  /** The calls of a cell that was found by its owner. */
  async callsOf({ calls, tenantId, cellId }: CellView): Promise<CallsOfCell> {
    return calls === 'none' ? NO_CALLS : listCalls(this.#db, tenantId, cellId);
  }

  /** Frees the place without having collected anything. */
  leave(observation: Observation): void {
    observation[Symbol.dispose]();
    leavePlace(this.#db, observation).catch((cause: unknown) =>
      this.#events.faulted("an observer's place was not freed; its lease ends in 5 s", cause, {
        cellId: observation.cellId,
      }),
    );
  }

  /** Answers all observations with what there is: this process is about to end. */
  drain(): void {
    this.#drain.abort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return Promise.resolve();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#renew()
        .catch((cause: unknown) => this.#events.faulted("observers' leases were not renewed", cause))
        .finally(() => this.#timer && this.#schedule());
    }, RENEW_MS);
  }

  async #renew(): Promise<void> {
    const all = this.observations.all();
    if (all.length === 0) return;
    await renewPlaces(this.#db, all);
    this.observations.ringAll();
  }
}

/** The row of a cell whose end a doorbell carried. The token in the doorbell is this observation's own. */
function carried({ cellId, observer }: Observation, end: CarriedEnd): Observed {
  const row = { cellId, observer, workerId: null, boundary: null, complete: true, yieldDue: false, spilled: true };
  const view: CellView = { ...row, calls: 'none', ...end };
  return { view, verdict: { state: end.state, items: end.items.length }, calls: NO_CALLS };
}
