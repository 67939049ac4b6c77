import { expect, it } from 'vitest';
import { within } from './within.js';

it('gives what comes in time, and does not wait for what does not', async () => {
  expect(await within(10_000, Promise.resolve('here'))).toBe('here');
  await expect(within(10_000, Promise.reject(new Error('its own')))).rejects.toThrow('its own');
  await expect(within(1, new Promise(() => undefined))).rejects.toThrow('longer than 1 ms');
});
