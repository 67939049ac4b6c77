import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OBEY_MS, Watchdog } from './watchdog.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('kills once the limit and the time to obey are over', () => {
  const kill = vi.fn<() => void>();
  new Watchdog(kill).watch(1000);
  vi.advanceTimersByTime(1000 + OBEY_MS - 1);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(kill).toHaveBeenCalledOnce();
});

it('is called off by an answer, also by one that was in the queue', () => {
  const kill = vi.fn<() => void>();
  const watchdog = new Watchdog(kill);
  watchdog.watch(10);
  setImmediate(() => watchdog.release());
  vi.advanceTimersByTime(1000);
  watchdog.watch(10);
  watchdog.release();
  vi.advanceTimersByTime(1000);
  expect(kill).not.toHaveBeenCalled();
});

it('expects only the newest', () => {
  const kill = vi.fn<() => void>();
  const watchdog = new Watchdog(kill);
  watchdog.watch(10);
  watchdog.watch(5000);
  vi.advanceTimersByTime(1000);
  expect(kill).not.toHaveBeenCalled();
});
