import type { CellErrorCode, CellState, Dialect, TerminalState } from '#libs/core';
import type { Logger } from './logger.js';
import { counter, secondsHistogram } from './metrics.js';

/** A cell, as log lines name it. */
export interface CellFacts {
  cellId: string;
  tenantId: string;
}

/** What the sweeper or the reaper did in one round. */
export type SweepKind = 'requeued' | 'no_worker' | 'deadline' | 'wall_limit' | 'worker_lost' | 'retention';

/** The services that Cellar depends on. */
export type Dependency = 'postgres' | 'redis';

const requests = secondsHistogram('http_request_duration', 'HTTP requests by route and status');
const requestFailures = counter('http_request_failures', 'Refused and failed requests by code');
const accepted = counter('cells_accepted', 'Cells accepted by dialect');
const queued = secondsHistogram('cell_queued', 'Time from acceptance to start');
const ended = secondsHistogram('cell_duration', 'Time from acceptance to the end, by dialect, state and error code');
const cpu = secondsHistogram('cell_cpu', 'CPU time of ended cells by dialect');
const collected = counter('cells_collected', 'Answers given by state');
const stopped = counter('cells_stopped', 'Cells stopped from outside, by confirmation of the worker');
const workers = counter('worker_events', 'Workers started, draining, stopped and lost');
const threads = counter('threads_retired', 'Script threads ended early by reason');
const sweeps = counter('swept', 'Rows that the sweeper and the reaper acted on, by kind');
const faults = counter('faults', 'Things that went wrong and are tried again or done without, by what');
const dependencies = counter('dependency_failures', 'Failures of Postgres and Redis');

/**
 * One helper per business event: a metric whose labels come from small fixed sets, and a log line in full. None of
 * them throws, so they may stand anywhere. Times are in ms; metrics are in seconds.
 */
export class Events {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A request was answered. `route` is the pattern, never the path. */
  requestEnded(facts: { method: string; route: string; status: number; durationMs: number }): void {
    this.#record(() => {
      const { method, route, status } = facts;
      requests.record(facts.durationMs / 1000, { method, route, status });
      this.#logger.debug(facts, 'request ended');
    });
  }

  /** A request was refused (4xx) or could not be served (5xx). */
  requestFailed(facts: { method: string; route: string; status: number; code: string; err: unknown }): void {
    this.#record(() => {
      requestFailures.add(1, { route: facts.route, code: facts.code });
      this.#logger[facts.status >= 500 ? 'error' : 'info'](facts, 'request failed');
    });
  }

  /** A cell was written to Postgres. */
  cellAccepted(facts: CellFacts & { conversationId: string; dialect: Dialect }): void {
    this.#record(() => {
      accepted.add(1, { dialect: facts.dialect });
      this.#logger.debug(facts, 'cell accepted');
    });
  }

  /** A worker claimed a cell and starts it. */
  cellStarted(facts: CellFacts & { workerId: string; queuedMs: number }): void {
    this.#record(() => {
      queued.record(facts.queuedMs / 1000);
      this.#logger.debug(facts, 'cell started');
    });
  }

  /** The final state of a cell was committed by this process. */
  cellEnded(
    facts: CellFacts & { dialect: Dialect; state: TerminalState; code?: CellErrorCode; wallMs: number; cpuMs: number },
  ): void {
    this.#record(() => {
      const { dialect, state, code = 'none' } = facts;
      ended.record(facts.wallMs / 1000, { dialect, state, code });
      cpu.record(facts.cpuMs / 1000, { dialect });
      this.#logger.info(facts, 'cell ended');
    });
  }

  /** An answer about a cell was written out and its items are marked as collected. */
  cellCollected(facts: CellFacts & { state: CellState; items: number }): void {
    this.#record(() => {
      collected.add(1, { state: facts.state });
      this.#logger.debug(facts, 'cell collected');
    });
  }

  /** A cell was stopped from outside; `confirmed` says whether its worker said so in time. */
  cellStopped(facts: CellFacts & { confirmed: boolean }): void {
    this.#record(() => {
      stopped.add(1, { confirmed: facts.confirmed });
      this.#logger.info(facts, 'cell stopped');
    });
  }

  /** A worker takes cells from now on. */
  workerStarted(facts: { workerId: string; slots: number }): void {
    this.#record(() => {
      workers.add(1, { event: 'started' });
      this.#logger.info(facts, 'worker started');
    });
  }

  /** A worker takes no more cells and gives the running ones time. */
  workerDraining(facts: { workerId: string; running: number; drainMs: number }): void {
    this.#record(() => {
      workers.add(1, { event: 'draining' });
      this.#logger.info(facts, 'worker draining');
    });
  }

  /** A worker has ended in order. */
  workerStopped(facts: { workerId: string }): void {
    this.#record(() => {
      workers.add(1, { event: 'stopped' });
      this.#logger.info(facts, 'worker stopped');
    });
  }

  /** A worker's heartbeat stood still: its row was removed. */
  workerLost(facts: { workerId: string }): void {
    this.#record(() => {
      workers.add(1, { event: 'lost' });
      this.#logger.error(facts, 'worker lost');
    });
  }

  /** A script's thread was ended and will be replaced. `reason` is one of a fixed set. */
  threadRetired(facts: { reason: string; cellId?: string }): void {
    this.#record(() => {
      threads.add(1, { reason: facts.reason });
      this.#logger.warn(facts, 'thread retired');
    });
  }

  /** A round of the sweeper or the reaper acted on rows. Rounds that found nothing are not events. */
  swept(facts: { kind: SweepKind; count: number; cellIds?: readonly string[] }): void {
    this.#record(() => {
      sweeps.add(facts.count, { kind: facts.kind });
      this.#logger.info(facts, 'swept');
    });
  }

  /** Postgres or Redis could not be used. */
  dependencyFailed(facts: { dependency: Dependency; what?: string; err: unknown }): void {
    this.#record(() => {
      dependencies.add(1, { dependency: facts.dependency });
      this.#logger.warn(facts, 'dependency failed');
    });
  }

  /** Something went wrong that is tried again or done without. `what` is a fixed text: it labels the metric. */
  faulted(what: string, err: unknown, facts: Readonly<Record<string, unknown>> = {}): void {
    this.#record(() => {
      faults.add(1, { what });
      this.#logger.warn({ ...facts, err }, what);
    });
  }

  #record(run: () => void): void {
    try {
      run();
    } catch {
      // What watches the service must not break it; there is nobody left to tell.
    }
  }
}
