import { defaultSettings, waitDefaults } from '#libs/core';
import { expect, test } from 'vitest';
import { effectiveCodemode, effectiveExec, effectiveWait } from './effective.js';

const maxima = { yieldTimeMs: 600_000, outputTokens: 100_000 };

test('exec: the first line, else the settings', () => {
  expect(effectiveExec({}, defaultSettings, maxima)).toEqual({
    yieldTimeMs: 10_000,
    maxTokens: 10_000,
    timeoutMs: undefined,
    effective: { yield_time_ms: 10_000, max_output_tokens: 10_000 },
  });
  expect(effectiveExec({ yieldTimeMs: 0, maxOutputTokens: 0 }, defaultSettings, maxima).effective).toEqual({
    yield_time_ms: 0,
    max_output_tokens: 0,
  });
});

test('what is over a maximum is lowered to it, settings included', () => {
  const asked = effectiveExec({ yieldTimeMs: 10_000_000, maxOutputTokens: 10_000_000 }, defaultSettings, maxima);
  expect(asked).toMatchObject({ yieldTimeMs: 600_000, maxTokens: 100_000 });
  expect(asked.effective).toEqual({ yield_time_ms: 600_000, max_output_tokens: 100_000 });
  const small = { yieldTimeMs: 50, outputTokens: 60 };
  expect(effectiveExec({}, defaultSettings, small).effective).toEqual({ yield_time_ms: 50, max_output_tokens: 60 });
});

test('codemode: observed as long as the server allows, its deadline as asked', () => {
  expect(effectiveCodemode({ maxOutputTokens: 200_000, timeoutMs: 300 }, defaultSettings, maxima)).toEqual({
    yieldTimeMs: 600_000,
    maxTokens: 100_000,
    timeoutMs: 300,
    effective: { max_output_tokens: 100_000, timeout_ms: 300 },
  });
  expect(effectiveCodemode({}, defaultSettings, maxima).effective).toEqual({ max_output_tokens: 10_000 });
});

test('wait: null means absent, zero is legal, more is lowered', () => {
  expect(effectiveWait({ yieldTimeMs: null }, waitDefaults, maxima).effective).toEqual({
    yield_time_ms: 10_000,
    max_tokens: 10_000,
  });
  expect(effectiveWait({ yieldTimeMs: 0, maxTokens: 1e9 }, waitDefaults, maxima)).toEqual({
    yieldTimeMs: 0,
    maxTokens: 100_000,
    effective: { yield_time_ms: 0, max_tokens: 100_000 },
  });
});
