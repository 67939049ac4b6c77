import type { WorkerConfig } from '#libs/config';
import type { Doorbell } from '#libs/contracts';
import { Doorbells } from '#libs/events';
import type { Offload } from '#libs/offload';
import { Database } from '#libs/persistence';
import type { SandboxRunner } from '#libs/sandbox';
import { Events, type Logger, NestLogger } from '#libs/telemetry';
import { CellQueue } from '#libs/queue';
import { Upkeep } from '#libs/upkeep';
import { NestFactory } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { CellProcessor } from './cell.processor.js';
import { HealthServer } from './health.js';
import { Heartbeat } from './heartbeat.js';
import { HeldCells } from './held-cells.js';
import { Lease } from './lease.js';
import { OFFLOAD, SANDBOX, WORKER_ID, WorkerModule } from './worker.module.js';

/** What closing the queue's consumer may take, in ms: without Redis it would not resolve at all. */
const CLOSE_MS = 3_000;

/** This worker was declared lost: others have ended its cells, and it must not go on. */
export class WorkerLostError extends Error {}

/**
 * One worker process from start to end: `starting -> working -> draining -> stopped`. Works until the signal aborts,
 * then takes no more cells, gives the running ones their grace time, and lets go of everything in reverse order,
 * Postgres last. Throws {@link WorkerLostError} when it was declared lost.
 */
export async function runWorker(config: WorkerConfig, logger: Logger, signal: AbortSignal): Promise<void> {
  const { slots, limits } = config;
  const app = await NestFactory.createApplicationContext(WorkerModule.register(config, logger), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  await using db = app.get(Database);
  await using doorbells = app.get(Doorbells);
  await using _offload = app.get<Offload>(OFFLOAD);
  await using sandbox = app.get<SandboxRunner>(SANDBOX);
  await using cells = app.get(HeldCells);
  const workerId = app.get<string>(WORKER_ID);
  const events = app.get(Events);
  const lost = new AbortController();
  const { imageVersion } = sandbox;
  await using _heartbeat = await Heartbeat.start(db, events, { workerId, slots, imageVersion }, app.get(Lease), () =>
    lost.abort(),
  );
  await using upkeep = app.get(Upkeep);
  const processor = app.get(CellProcessor);
  await using _health = await HealthServer.start(config, {
    pings: { postgres: () => db.ping(), redis: () => doorbells.ping() },
    draining: signal,
    sandbox,
  });
  await doorbells.listen({
    ring: (bell) => answerBell(cells, bell, events),
    resubscribed: () => lookAgain(cells, events),
  });
  upkeep.start();
  processor.start(slots);
  events.workerStarted({ workerId, slots });

  await aborted(AbortSignal.any([signal, lost.signal]));
  await processor.pause().catch((cause: unknown) => events.faulted('the consumer was not paused', cause));
  if (lost.signal.aborted) {
    cells.abandon();
    throw new WorkerLostError('This worker was declared lost: its heartbeat stood still for 10 s.');
  }
  events.workerDraining({ workerId, running: cells.size, drainMs: limits.drainMs });
  await cells.drain(limits.drainMs);
  const redisAnswers = await doorbells.ping().then(
    () => true,
    () => false,
  );
  await soon(processor.stop(redisAnswers));
  await soon(app.get(CellQueue)[Symbol.asyncDispose]());
  await soon(app.close());
  events.workerStopped({ workerId });
}

/** Waits for what may not resolve while Redis is away. */
async function soon(closing: Promise<void>): Promise<void> {
  await Promise.race([closing, delay(CLOSE_MS, undefined, { ref: false })]);
}

function answerBell(cells: HeldCells, bell: Doorbell, events: Events): void {
  if (bell.kind === 'stop') cells.stop(bell.cellId, bell.replyTo);
  else if (bell.kind === 'settled') void cells.lookAtCalls(bell.cellId);
  else if (bell.kind === 'observe') {
    cells.look([bell.cellId]).catch((cause: unknown) => events.faulted('a cell was not looked at', cause));
  }
}

function lookAgain(cells: HeldCells, events: Events): void {
  cells.look().catch((cause: unknown) => events.faulted('running cells were not looked at', cause));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
