import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll } from 'vitest';
import { eventually } from './eventually.js';

// Runs around every test file: nothing that the file started may be left when it has ended. Vitest runs this `afterAll`
// last, for it is the first that was registered.

/** How long it may take until what was closed is gone, in ms: idle connections of fetch stay for 4 s. */
const GONE_MS = 10_000;
/** What keeps a process alive, by the names that Node has for it. */
const WATCHED = ['ProcessWrap', 'TCPServerWrap', 'TCPSocketWrap', 'TLSWrap', 'PipeServerWrap', 'Timeout'];
/** Vitest has some when a file begins, and none for long. */
const TIMERS = 'Timeout';

const threads = new Set<Worker>();
const started = (worker: Worker): void => {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
};
let before: Map<string, number>;

beforeAll(() => {
  process.on('worker', started);
  before = handles();
});

afterAll(async () => {
  // Threads are told of after the turn that started them.
  await new Promise((resolve) => setImmediate(resolve));
  try {
    await eventually(() => left().length === 0, { withinMs: GONE_MS });
  } catch {
    throw new Error(`This test file has left: ${left().join(', ')}.`);
  } finally {
    process.off('worker', started);
  }
});

function handles(): Map<string, number> {
  const counts = new Map(WATCHED.map((name) => [name, 0]));
  for (const name of process.getActiveResourcesInfo()) {
    const count = counts.get(name);
    if (count !== undefined) counts.set(name, count + 1);
  }
  return counts;
}

/** What there is more than at the start, by name. */
function left(): string[] {
  const more = [...handles()].flatMap(([name, count]) => {
    const added = name === TIMERS ? count : count - (before.get(name) ?? 0);
    return added > 0 ? [`${added} x ${name}`] : [];
  });
  return [...[...threads].map(({ threadId }) => `thread ${threadId}`), ...more];
}
