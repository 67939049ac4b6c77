import { CellarError } from '#libs/core';
import { Events, createLogger } from '#libs/telemetry';
import { expect, it } from 'vitest';
import { EffectFence } from './effect-fence.js';

it('opens with a heartbeat, closes 5 s after one began, and tells so once', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  let now = 0;
  const fence = new EffectFence(new Events(createLogger({ name: 'worker', level: 'info', destination })), () => now);
  const isOpen = (): boolean => {
    try {
      fence.check();
      return true;
    } catch (error) {
      expect(error instanceof CellarError && error.retryable).toBe(true);
      return false;
    }
  };
  expect(isOpen()).toBe(false);
  const beganAt = fence.beginning();
  now = 4_000;
  fence.beaten(beganAt);
  now = 5_000;
  expect(isOpen()).toBe(true);
  now = 5_001;
  expect([isOpen(), isOpen()]).toEqual([false, false]);
  // An answer that was under way for longer than a later one does not close it again.
  fence.beaten(5_000);
  fence.beaten(1_000);
  expect(isOpen()).toBe(true);
  expect(lines.filter((line) => line.includes('effects are held back'))).toHaveLength(2);
});
