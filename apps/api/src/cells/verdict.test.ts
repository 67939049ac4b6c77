import type { CellView } from '#libs/persistence';
import { describe, expect, it } from 'vitest';
import { verdictOf } from './verdict.js';

const items = [1, 2, 3].map((n) => ({ kind: 'text' as const, text: String(n) }));
const row: CellView = {
  cellId: 'c_0000000000000000',
  tenantId: 't',
  dialect: 'exec',
  state: 'running',
  workerId: 'w',
  maxOutputTokens: 10_000,
  observer: 'api-x.1',
  collected: 4,
  items,
  boundary: null,
  complete: false,
  yieldDue: false,
  spilled: false,
  calls: 'none',
  warnings: [],
  timings: { queuedMs: 0, wallMs: 0, cpuMs: 0 },
};
const now = { timeOver: false, stopOver: false };

describe('verdictOf', () => {
  it('goes on while there is nothing to tell', () => {
    expect(verdictOf(row, now)).toBeUndefined();
    expect(verdictOf({ ...row, state: 'queued' }, now)).toBeUndefined();
  });

  it('answers at the end of the time once the worker has written what there is', () => {
    expect(verdictOf({ ...row, yieldDue: true }, now)).toBeUndefined();
    expect(verdictOf({ ...row, spilled: true }, now)).toBeUndefined();
    expect(verdictOf({ ...row, yieldDue: true, spilled: true }, now)).toEqual({ state: 'running', items: 3 });
    expect(verdictOf(row, { ...now, timeOver: true })).toEqual({ state: 'running', items: 3 });
  });

  it('answers for a queued cell at the end of the time: there is nobody to write', () => {
    const queued: CellView = { ...row, state: 'queued', items: [], yieldDue: true };
    expect(verdictOf(queued, now)).toEqual({ state: 'running', items: 0 });
  });

  it('gives a boundary before an end, and the items below it only', () => {
    const ended: CellView = { ...row, state: 'completed', complete: true, boundary: 5 };
    expect(verdictOf(ended, now)).toEqual({ state: 'running', items: 1 });
    expect(verdictOf({ ...ended, boundary: 4 }, now)).toEqual({ state: 'running', items: 0 });
    expect(verdictOf({ ...ended, boundary: null }, now)).toEqual({ state: 'completed', items: 3 });
  });

  it('waits for what a stopped script had written, and not for ever', () => {
    const stopped: CellView = { ...row, state: 'terminated' };
    expect(verdictOf(stopped, now)).toBeUndefined();
    expect(verdictOf(stopped, { ...now, stopOver: true })).toEqual({ state: 'terminated', items: 3 });
    expect(verdictOf({ ...stopped, complete: true }, now)).toEqual({ state: 'terminated', items: 3 });
  });

  it('answers early for calls that no answer has told', () => {
    expect(verdictOf({ ...row, calls: 'untold' }, now)).toEqual({ state: 'running', items: 3 });
    expect(verdictOf({ ...row, dialect: 'codemode', calls: 'untold' }, now)).toEqual({ state: 'running', items: 0 });
    expect(verdictOf({ ...row, calls: 'told' }, now)).toBeUndefined();
  });

  it('keeps the items of a running codemode cell for its end', () => {
    const codemode: CellView = { ...row, dialect: 'codemode', yieldDue: true, spilled: true };
    expect(verdictOf(codemode, now)).toEqual({ state: 'running', items: 0 });
  });
});
