import type { FromThread, ToThread } from '../../libs/sandbox/src/protocol.js';

const writes = [
  { key: 'k', json: '1' },
  { key: 'gone', json: null },
];
const basis = { cell: 1, tenantId: 't_1', cpuMs: 1_000, stretchCpuMs: 1_000, view: null };
const results = [
  { callId: 1, result: { ok: true as const, json: '{}' } },
  { callId: 2, result: { ok: false as const, message: 'no' } },
];

/** Messages to threads, of each kind that needs no memory image. */
export const toThread: readonly ToThread[] = [
  { type: 'start', ...basis, dialect: 'exec', source: 'text(1)', values: ['k', '1'], seed: [1, 2] },
  { type: 'resume', cell: 1, timers: [1], results },
  { type: 'hibernate', cell: 1 },
  { type: 'stop', cell: 1 },
];

/** Messages from threads, of each kind that needs no memory image. */
export const fromThread: readonly FromThread[] = [
  { type: 'ready', imageVersion: 'a'.repeat(64) },
  { type: 'refused', reason: 'no' },
  { type: 'output', cell: 1, batch: 1, items: [{ kind: 'console', text: 'x' }] },
  { type: 'boundary', cell: 1, items: 0 },
  { type: 'timer', cell: 1, id: 1, delayMs: 0.5 },
  { type: 'untimer', cell: 1, id: 1 },
  { type: 'call', cell: 1, callId: 1, identifier: 'echo', argumentsJson: '{}' },
  { type: 'note', cell: 1, text: 'n' },
  { type: 'waiting', cell: 1, cpuMs: 0.1 },
  { type: 'reached', cell: 1, end: { kind: 'completed', writes, warnings: ['w'] } },
  { type: 'ended', cell: 1, end: { kind: 'stopped' }, cpuMs: 1, retire: null },
];
