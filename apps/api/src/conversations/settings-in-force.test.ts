import { defaultSettings } from '#libs/core';
import { expect, it } from 'vitest';
import { settingsInForce } from './settings-in-force.js';

it('fills in the defaults of the deployment and keeps to its maximum', () => {
  const limits = { retentionMs: 5_000, maxOutputTokens: 50_000 };
  expect(settingsInForce({ settings: {} }, limits)).toEqual({ ...defaultSettings, retentionMs: 5_000 });
  const settings = { retentionMs: 7, maxOutputTokens: 60_000, mode: 'only' };
  expect(settingsInForce({ settings }, limits)).toEqual({
    ...defaultSettings,
    retentionMs: 7,
    maxOutputTokens: 50_000,
    mode: 'only',
  });
});
