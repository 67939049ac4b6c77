import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Lease } from './lease.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('is fresh for 5 s after the sending of a heartbeat that succeeded', () => {
  const lease = new Lease();
  expect(lease.isFresh).toBe(false);
  lease.renewedAt(performance.now());
  vi.advanceTimersByTime(5_000);
  expect(lease.isFresh).toBe(true);
  vi.advanceTimersByTime(1);
  expect(lease.isFresh).toBe(false);
  lease.renewedAt(performance.now() - 6_000);
  expect(lease.isFresh).toBe(false);
});

it('holds effects back until it is renewed, or they are given up', async () => {
  const lease = new Lease();
  let givenUp = false;
  const acted: string[] = [];
  const first = lease.mayAct(() => false).then(() => acted.push('first'));
  const second = lease.mayAct(() => givenUp).then(() => acted.push('second'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(acted).toEqual([]);
  givenUp = true;
  await vi.advanceTimersByTimeAsync(100);
  expect(acted).toEqual(['second']);
  lease.renewedAt(performance.now());
  await vi.advanceTimersByTimeAsync(100);
  expect(acted).toEqual(['second', 'first']);
  await Promise.all([first, second]);
});
