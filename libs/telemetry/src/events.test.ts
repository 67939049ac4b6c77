import { beforeEach, expect, test } from 'vitest';
import { Events } from './events.js';
import { createLogger } from './logger.js';
import { renderMetrics } from './metrics.js';

const lines: Record<string, unknown>[] = [];
const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
const events = new Events(createLogger({ name: 'test', level: 'debug', destination }));
const cell = { cellId: 'c_0123456789ABCDEF', tenantId: 't_0123456789ABCDEF' };

/** Each helper once, with the metric line it must leave and the level of its log line. */
const table: [run: () => void, message: string, level: number, metric: RegExp][] = [
  [
    () => events.requestEnded({ method: 'POST', route: '/v1/x', status: 200, durationMs: 4 }),
    'request ended',
    20,
    /cellar_http_request_duration_seconds_sum\{method="POST",route="\/v1\/x",status="200"\} 0\.004\n/,
  ],
  [
    () => events.requestFailed({ method: 'GET', route: '/v1/x', status: 500, code: 'internal', err: new Error('e') }),
    'request failed',
    50,
    /cellar_http_request_failures_total\{route="\/v1\/x",code="internal"\} 1\n/,
  ],
  [
    () => events.requestFailed({ method: 'GET', route: '/v1/x', status: 404, code: 'not_found', err: new Error('e') }),
    'request failed',
    30,
    /code="not_found"\} 1\n/,
  ],
  [
    () => events.cellAccepted({ ...cell, conversationId: 'chat', dialect: 'exec' }),
    'cell accepted',
    20,
    /cellar_cells_accepted_total\{dialect="exec"\} 1\n/,
  ],
  [
    () => events.cellStarted({ ...cell, workerId: 'w', queuedMs: 2 }),
    'cell started',
    20,
    /cellar_cell_queued_seconds_sum 0\.002\n/,
  ],
  [
    () => events.cellEnded({ ...cell, dialect: 'exec', state: 'failed', code: 'script_error', wallMs: 5, cpuMs: 1 }),
    'cell ended',
    30,
    /cellar_cell_duration_seconds_sum\{dialect="exec",state="failed",code="script_error"\} 0\.005\n/,
  ],
  [
    () => events.cellCollected({ ...cell, state: 'completed', items: 3 }),
    'cell collected',
    20,
    /cellar_cells_collected_total\{state="completed"\} 1\n/,
  ],
  [
    () => events.cellStopped({ ...cell, confirmed: true }),
    'cell stopped',
    30,
    /cellar_cells_stopped_total\{confirmed="true"\} 1\n/,
  ],
  [
    () => events.workerStarted({ workerId: 'w', slots: 4 }),
    'worker started',
    30,
    /cellar_worker_events_total\{event="started"\} 1\n/,
  ],
  [
    () => events.workerDraining({ workerId: 'w', running: 2, drainMs: 9 }),
    'worker draining',
    30,
    /\{event="draining"\} 1\n/,
  ],
  [() => events.workerStopped({ workerId: 'w' }), 'worker stopped', 30, /\{event="stopped"\} 1\n/],
  [() => events.workerLost({ workerId: 'w' }), 'worker lost', 50, /\{event="lost"\} 1\n/],
  [
    () => events.threadRetired({ reason: 'watchdog', cellId: 'c_1' }),
    'thread retired',
    40,
    /cellar_threads_retired_total\{reason="watchdog"\} 1\n/,
  ],
  [() => events.swept({ kind: 'requeued', count: 3 }), 'swept', 30, /cellar_swept_total\{kind="requeued"\} 3\n/],
  [
    () => events.dependencyFailed({ dependency: 'redis', err: new Error('away') }),
    'dependency failed',
    40,
    /cellar_dependency_failures_total\{dependency="redis"\} 1\n/,
  ],
  [
    () => events.faulted('round failed', new Error('e'), { round: 1 }),
    'round failed',
    40,
    /cellar_faults_total\{what="round failed"\} 1\n/,
  ],
];

beforeEach(() => void lines.splice(0));

test.each(table)('%s: %s', async (run, message, level, metric) => {
  run();
  expect(lines).toMatchObject([{ msg: message, level }]);
  expect(await renderMetrics()).toMatch(metric);
});

test('labels hold no ids', async () => {
  for (const [run] of table) run();
  const text = await renderMetrics();
  for (const id of [cell.cellId, cell.tenantId, 'chat']) expect(text).not.toContain(id);
  expect(JSON.stringify(lines)).toContain(cell.cellId);
});

test('an event never throws, whatever is wrong with its facts', () => {
  const bad = Object.defineProperty({ ...cell, state: 'completed', items: 1 } as const, 'state', {
    get: () => {
      throw new Error('no');
    },
  });
  expect(() => events.cellCollected(bad)).not.toThrow();
});
