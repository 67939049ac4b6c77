import { newCallId } from '#libs/core';
import {
  endOrphans,
  expireCalls,
  insertCalls,
  listCalls,
  markCollected,
  putConversation,
  readEndedCalls,
  removeWorker,
  settleCalls,
  stopCell,
  viewCell,
} from '#libs/persistence';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreFixture } from './store-fixture.js';

describe('rows of calls', () => {
  let store: StoreFixture;
  beforeAll(async () => (store = await StoreFixture.create(16)));
  afterAll(() => store[Symbol.asyncDispose]());

  const started = async (on = store, observer?: string): Promise<string> => {
    const { cellId } = await on.insert({ observer });
    if (!(await on.claim(cellId))) throw new Error('the cell was not claimed');
    return cellId;
  };
  const call = (number: number, more: object = {}) => ({
    callId: newCallId(),
    number,
    tool: 'echo',
    toolset: 'kit',
    identifier: 'echo',
    arguments: '{"value":"\\u0000\\ud800"}',
    timeoutMs: 60_000,
    ...more,
  });
  /** Makes one call in a new cell. */
  const made = async (more: object = {}, on = store) => {
    const cellId = await started(on);
    const one = call(1, more);
    await insertCalls(on.db, on.ref(cellId), [one], { told: false, asked: true });
    return { cellId, callId: one.callId };
  };
  const settle = async (callId: string, result = '{"result":{"content":[]}}', owner = store.owner, failed = false) =>
    (await settleCalls(store.db, owner, [{ callId, result, failed }])).statuses.get(callId);
  const states = async (cellId: string, on = store) =>
    (await listCalls(on.db, on.owner.tenantId, cellId)).newest.map((one) => one.state);

  it('are written together, and listed in the order of start', async () => {
    const cellId = await started(store, 'api-w.1');
    const batch = [call(2, { tool: 'a\0', namespace: '\ud800', identifier: 'b' }), call(1)];
    expect(await insertCalls(store.db, store.ref(cellId), batch, { told: false, asked: true })).toEqual({
      observer: 'api-w.1',
    });
    const { newest, open } = await listCalls(store.db, store.owner.tenantId, cellId);
    expect(newest.map((one) => one.identifier)).toEqual(['echo', 'b']);
    expect(open[1]).toMatchObject({ tool: 'a\0', namespace: '\ud800', state: 'pending' });
    expect(open[0]?.arguments).toBe('{"value":"\\u0000\\ud800"}');
    expect((await viewCell(store.db, store.owner, cellId))?.calls).toBe('untold');
  });

  it('are not written for a cell that runs elsewhere, in another stretch, or no more', async () => {
    const cellId = await started();
    const ref = store.ref(cellId);
    const insert = (wrong: object) =>
      insertCalls(store.db, { ...ref, ...wrong }, [call(1)], { told: false, asked: true });
    expect(await insert({ workerId: 'worker-other' })).toBeUndefined();
    expect(await insert({ stretch: 2 })).toBeUndefined();
    await stopCell(store.db, store.owner, cellId);
    expect(await insert({})).toBeUndefined();
    expect(await states(cellId)).toEqual([]);
  });

  it('are settled once: repeated, contradicted, and by the owner alone', async () => {
    const { cellId, callId } = await made();
    for (const foreign of [{ tenantId: 't_other' }, { conversationId: 'other' }, { epoch: 9 }, { writer: 'ann' }]) {
      expect(await settle(callId, '{}', { ...store.owner, ...foreign })).toBe('not_found');
    }
    expect(await settle('call_0000000000000000')).toBe('not_found');
    expect(await settle(callId, '{"a":1}')).toBe('settled');
    expect(await settle(callId, '{"a":1}')).toBe('duplicate');
    expect(await settle(callId, '{"a":2}')).toBe('conflict');
    await store.endById(cellId);
    expect(await settle(callId, '{"a":1}')).toBe('duplicate');
    expect(await settle(callId, '{"a":2}')).toBe('conflict');
    expect(await readEndedCalls(store.db, [callId])).toEqual([{ callId, cellId, state: 'settled', result: '{"a":1}' }]);
  });

  it('have one result when two are posted at once', async () => {
    for (let i = 0; i < 20; i++) {
      const { callId } = await made();
      const statuses = await Promise.all(['{"a":1}', '{"a":2}', '{"a":1}'].map((result) => settle(callId, result)));
      expect(statuses.filter((status) => status === 'settled')).toHaveLength(1);
      expect(statuses).not.toContain('closed');
    }
  });

  it('name the worker to tell, once per cell', async () => {
    const cellId = await started();
    const batch = [call(1), call(2)];
    await insertCalls(store.db, store.ref(cellId), batch, { told: false, asked: true });
    const posts = batch.map(({ callId }) => ({ callId, result: '{}', failed: true }));
    expect((await settleCalls(store.db, store.owner, posts)).told).toEqual([{ cellId, workerId: store.workerId }]);
    expect((await settleCalls(store.db, store.owner, posts)).told).toEqual([]);
    expect(await states(cellId)).toEqual(['failed', 'failed']);
  });

  it('end with their cell, whatever ends it', async () => {
    const ended = await made();
    await store.endById(ended.cellId);
    const stopped = await made();
    await stopCell(store.db, store.owner, stopped.cellId);
    for (const { cellId, callId } of [ended, stopped]) {
      expect(await states(cellId)).toEqual(['cancelled']);
      expect(await settle(callId)).toBe('closed');
    }
    await using own = await StoreFixture.create(4);
    const lost = await made({}, own);
    await removeWorker(own.db, own.workerId);
    await endOrphans(own.db);
    expect(await states(lost.cellId, own)).toEqual(['cancelled']);
  });

  it('end with their epoch, and are not found in the next', async () => {
    await using own = await StoreFixture.create(4);
    await putConversation(own.db, own.owner, { kind: 'direct', model: 'one' });
    const { cellId } = await own.insert({ conversationVersion: 3 });
    await own.claim(cellId);
    const one = call(1);
    await insertCalls(own.db, own.ref(cellId), [one], { told: false, asked: true });
    const { conversation } = await putConversation(own.db, own.owner, { kind: 'direct', model: 'two' });
    expect(await states(cellId, own)).toEqual(['cancelled']);
    const owner = { ...own.owner, epoch: conversation.epoch };
    const { statuses } = await settleCalls(own.db, owner, [{ callId: one.callId, result: '{}', failed: false }]);
    expect(statuses.get(one.callId)).toBe('not_found');
  });

  it('have no result when a stop comes first, and one when it comes second', async () => {
    for (let i = 0; i < 20; i++) {
      const { cellId, callId } = await made();
      const [status] = await Promise.all([settle(callId), stopCell(store.db, store.owner, cellId)]);
      expect(await states(cellId)).toEqual([status === 'settled' ? 'settled' : 'cancelled']);
    }
  });

  it('leave none open when a stop and a call meet', async () => {
    for (let i = 0; i < 20; i++) {
      const cellId = await started();
      await Promise.all([
        insertCalls(store.db, store.ref(cellId), [call(1)], { told: false, asked: true }),
        stopCell(store.db, store.owner, cellId),
      ]);
      expect((await states(cellId)).filter((state) => state !== 'cancelled')).toEqual([]);
    }
  });

  it('expire when their time is up, and take no result then', async () => {
    const { cellId, callId } = await made({ timeoutMs: 0 });
    expect(await settle(callId)).toBe('closed');
    await expireCalls(store.db, store.ref(cellId));
    expect(await readEndedCalls(store.db, [callId])).toMatchObject([{ state: 'expired', result: null }]);
    expect(await settle(callId)).toBe('closed');
  });

  it('are told once an answer that listed them was written out by the observer of the cell', async () => {
    const cellId = await started(store, 'api-t.1');
    const one = call(1);
    await insertCalls(store.db, store.ref(cellId), [one], { told: false, asked: true });
    const mark = (observer: string) =>
      markCollected(store.db, [{ cellId, observer, since: 0, upTo: 0, final: false, calls: [one.callId] }]);
    await mark('api-t.2');
    expect(await states(cellId)).toEqual(['pending']);
    await mark('api-t.1');
    expect(await states(cellId)).toEqual(['delivered']);
    expect((await viewCell(store.db, store.owner, cellId))?.calls).toBe('told');
  });

  it('keep their end, whatever statement comes', async () => {
    const { callId } = await made();
    await settle(callId, '{"a":1}');
    const change = { name: 'change', text: `UPDATE calls SET result = '{}' WHERE id = $1` };
    await expect(store.db.query(change, [callId])).rejects.toThrow();
  });
});
