import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CellTimers } from './timers.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells each timer once, in the order in which they are due, none early', () => {
  const delays = fc.array(fc.record({ delayMs: fc.integer({ min: 0, max: 50 }), cancel: fc.boolean() }), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(delays, (given) => {
      const fired: number[] = [];
      const startedAt = performance.now();
      const timers: CellTimers = new CellTimers((ids) => {
        for (const id of ids) {
          expect(performance.now() - startedAt).toBeGreaterThanOrEqual(given[id]?.delayMs ?? Infinity);
        }
        fired.push(...ids);
        timers.start();
      });
      given.forEach(({ delayMs }, id) => timers.add(id, delayMs));
      given.forEach(({ cancel }, id) => cancel && timers.delete(id));
      timers.start();
      vi.advanceTimersByTime(100);
      timers.pause();
      const expected = given
        .map(({ delayMs, cancel }, id) => ({ delayMs, cancel, id }))
        .filter(({ cancel }) => !cancel)
        .sort((a, b) => a.delayMs - b.delayMs || a.id - b.id);
      expect(fired).toEqual(expected.map(({ id }) => id));
    }),
  );
});

it('keeps timers that are longer than those of Node', () => {
  const fired: number[][] = [];
  const timers = new CellTimers((ids) => fired.push(ids));
  timers.add(1, 3e9);
  timers.start();
  vi.advanceTimersByTime(2.9e9);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(0.2e9);
  expect(fired).toEqual([[1]]);
});

it('tells nothing while the script runs', () => {
  const fired: number[][] = [];
  const timers = new CellTimers((ids) => fired.push(ids));
  timers.add(1, 10);
  timers.start();
  timers.pause();
  vi.advanceTimersByTime(100);
  expect(fired).toEqual([]);
  timers.start();
  expect(fired).toEqual([[1]]);
});
