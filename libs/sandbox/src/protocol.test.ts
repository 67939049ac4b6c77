import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limits } from '#libs/core';
import { parseFromThread, parseToThread } from './protocol.js';

const writes = [
  { key: 'k', json: '1' },
  { key: 'gone', json: null },
];

it.each([
  { type: 'ready', imageVersion: 'a'.repeat(64) },
  { type: 'refused', reason: 'no' },
  { type: 'output', cell: 1, batch: 1, items: [{ kind: 'console', text: '' }] },
  { type: 'boundary', cell: 1, items: 0 },
  { type: 'timer', cell: 1, id: 1, delayMs: 0.5 },
  { type: 'untimer', cell: 1, id: 1 },
  { type: 'call', cell: 1, callId: 1, identifier: 'echo', argumentsJson: '{}' },
  { type: 'note', cell: 1, text: 'n' },
  { type: 'waiting', cell: 1, cpuMs: 0.1 },
  { type: 'reached', cell: 1, end: { kind: 'completed', writes, warnings: [] } },
  { type: 'ended', cell: 1, end: { kind: 'stopped' }, cpuMs: 1, retire: null },
  {
    type: 'ended',
    cell: 1,
    end: { kind: 'failed', code: 'stalled', message: 'm', frames: '', writes, warnings: ['w'] },
    cpuMs: 1,
    retire: 'x',
  },
])('accepts $type', (message) => {
  expect(parseFromThread(message)).toBe(message);
});

it.each([
  null,
  'ready',
  { type: 'other', cell: 1 },
  { type: 'output', cell: -1, batch: 1, items: [] },
  { type: 'output', cell: 1, batch: 1, items: [{ kind: 'image', text: '' }] },
  { type: 'output', cell: 1, batch: 1, items: [{ kind: 'text', text: 5 }] },
  { type: 'timer', cell: 1, id: 1, delayMs: Number.NaN },
  { type: 'call', cell: 1, callId: 1, identifier: 'echo', argumentsJson: {} },
  { type: 'call', cell: 1, callId: -1, identifier: 'echo', argumentsJson: '{}' },
  { type: 'note', cell: 1, text: 'x'.repeat(limits.noteBytes + 1) },
  { type: 'waiting', cell: 1, cpuMs: '1' },
  { type: 'ended', cell: 1, end: { kind: 'completed' }, cpuMs: 1, retire: null },
  {
    type: 'ended',
    cell: 1,
    end: { kind: 'failed', code: 'mine', message: '', frames: '', writes, warnings: ['w'] },
    cpuMs: 1,
    retire: null,
  },
  {
    type: 'ended',
    cell: 1,
    end: { kind: 'completed', writes: [{ key: 1, json: '1' }], warnings: [] },
    cpuMs: 1,
    retire: null,
  },
  {
    type: 'ended',
    cell: 1,
    end: { kind: 'completed', writes: [{ key: 'k'.repeat(limits.valueKeyChars + 1), json: '1' }], warnings: [] },
    cpuMs: 1,
    retire: null,
  },
  { type: 'ended', cell: 1, end: { kind: 'completed', writes, warnings: [] }, cpuMs: 1 },
])('refuses %j', (message) => {
  expect(parseFromThread(message)).toBeUndefined();
});

it('takes anything without throwing', () => {
  const types = fc.constantFrom(
    'ready',
    'refused',
    'output',
    'boundary',
    'timer',
    'untimer',
    'waiting',
    'reached',
    'ended',
  );
  const message = fc.oneof(
    fc.anything(),
    fc.record(
      {
        type: types,
        cell: fc.nat(),
        end: fc.anything(),
        text: fc.anything(),
        cpuMs: fc.anything(),
        retire: fc.anything(),
      },
      { requiredKeys: ['type'] },
    ),
  );
  fc.assert(
    fc.property(message, (value) => {
      const parsed = parseFromThread(value);
      expect(parsed === undefined || parsed === value).toBe(true);
    }),
  );
});

const start = {
  type: 'start',
  cell: 1,
  tenantId: 't',
  dialect: 'exec',
  source: '',
  values: ['k', '1'],
  cpuMs: 1,
  stretchCpuMs: 1,
  seed: [1, 2],
  view: null,
};

const withView = { ...start, view: { id: 1, memory: new SharedArrayBuffer(2) } };
const settled = [
  { callId: 1, result: { ok: true, json: '{}' } },
  { callId: 2, result: { ok: false, message: 'no' } },
];

it.each([
  start,
  withView,
  { type: 'resume', cell: 1, timers: [], results: settled },
  { type: 'resume', cell: 1, timers: [1, 2], results: [] },
  { type: 'stop', cell: 1 },
])('sends $type', (message) => {
  expect(parseToThread(message)).toBe(message);
});

it.each([
  null,
  { type: 'stop' },
  { type: 'go', cell: 1 },
  { ...start, dialect: 'other' },
  { ...start, source: 'x'.repeat(limits.sourceBytes + 1) },
  { ...start, values: [1] },
  { ...start, seed: [1, 2, 3] },
  { type: 'resume', cell: 1, timers: [-1], results: [] },
  { type: 'resume', cell: 1, timers: [], results: [{ callId: 1, result: { ok: true, message: 'x' } }] },
  { ...start, view: { id: 1, memory: '[]' } },
])('does not send %#', (message) => {
  expect(parseToThread(message)).toBeUndefined();
});
