import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<string>();

/**
 * Runs something under a correlation id: every log line written inside carries it, across awaits. The API uses the
 * request's id, a worker the cell's, so that a problem document leads to its log lines.
 */
export function withCorrelation<T>(correlationId: string, run: () => T): T {
  return storage.run(correlationId, run);
}

/** The correlation id in force, if any. */
export function currentCorrelationId(): string | undefined {
  return storage.getStore();
}
