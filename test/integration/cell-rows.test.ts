import { newCellId } from '#libs/core';
import {
  claimCell,
  endCell,
  endOrphans,
  endUnclaimed,
  findLongQueued,
  markCollected,
  putConversation,
  removeWorker,
  renewPlaces,
  spillOutput,
  spillStoppedOutput,
  stopCell,
  takePlace,
  viewCell,
} from '#libs/persistence';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../libs/testing/src/index.js';
import { StoreFixture } from './store-fixture.js';

describe('rows of cells', () => {
  let store: StoreFixture;
  beforeAll(async () => (store = await StoreFixture.create(16)));
  afterAll(() => store[Symbol.asyncDispose]());

  const run = (text: string, values: unknown[] = []) => store.db.query({ name: text.slice(0, 60), text }, values);
  const started = async (wish = {}) => {
    const { cellId } = await store.insert(wish);
    const claimed = await store.claim(cellId);
    if (!claimed) throw new Error('the cell was not claimed');
    return claimed;
  };
  const text = (value: string) => ({ kind: 'text' as const, text: value });

  it('are claimed once, whoever asks', async () => {
    const { cellId } = await store.insert();
    const claims = await Promise.all(Array.from({ length: 12 }, () => store.claim(cellId)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('are not claimed by a worker that counts as lost, nor after their deadline', async () => {
    const { cellId } = await store.insert({ deadlineInMs: 0 });
    expect(await store.claim(cellId)).toBeUndefined();
    const other = await store.insert();
    expect(await claimCell(store.db, { cellId: other.cellId, stretch: 1, workerId: 'worker-gone' })).toBeUndefined();
  });

  it('have one final state when an end and a stop meet', async () => {
    for (let i = 0; i < 20; i++) {
      const claimed = await started();
      const [end, stop] = await Promise.all([store.end(claimed), stopCell(store.db, store.owner, claimed.cellId)]);
      expect([end, stop].filter(Boolean)).toHaveLength(1);
      const view = await viewCell(store.db, store.owner, claimed.cellId);
      expect(view?.state).toBe(end ? 'completed' : 'terminated');
    }
  });

  it('keep their final state, whatever statement comes', async () => {
    const claimed = await started();
    await store.end(claimed);
    await expect(run(`UPDATE cells SET state = 'failed' WHERE id = $1`, [claimed.cellId])).rejects.toThrow();
  });

  it('drop the values and keep the output of a stopped script', async () => {
    const claimed = await started();
    await stopCell(store.db, store.owner, claimed.cellId);
    expect(await store.end(claimed, [{ key: 'late', json: '1' }], [text('late')])).toBeUndefined();
    const ref = store.ref(claimed.cellId);
    expect(await spillOutput(store.db, ref, { first: 0, items: [text('late')] })).toBeUndefined();
    expect(await spillStoppedOutput(store.db, ref, { first: 0, items: [text('before')] }, 1)).toBeDefined();
    expect(await spillStoppedOutput(store.db, ref, { first: 1, items: [text('twice')] }, 1)).toBeUndefined();
    const view = await viewCell(store.db, store.owner, claimed.cellId);
    expect(view).toMatchObject({ state: 'terminated', complete: true, items: [text('before')] });
    expect((await store.read()).has('late')).toBe(false);
  });

  it('are not inserted under an epoch that is over, and an insert under way holds a new epoch back', async () => {
    await using own = await StoreFixture.create(8);
    await putConversation(own.db, own.owner, { kind: 'direct', model: 'one' });
    const inFlight = own.db.transaction(async (tx) => {
      await tx.query(
        {
          name: 'insert-in-flight',
          text: `INSERT INTO cells (id, tenant_id, conversation_id, epoch, writer, branch_id, dialect, source, options)
            SELECT $1, tenant_id, id, epoch, '', 'main', 'exec', '""', '{}' FROM conversations WHERE id = $2 FOR SHARE`,
        },
        [newCellId(), own.owner.conversationId],
      );
      const switching = putConversation(own.db, own.owner, { kind: 'direct', model: 'two' });
      // The new epoch waits for the row lock of this transaction: it must not overtake the cell.
      const waiting = await untilWaiting(own);
      return { switching, waiting };
    });
    const { switching, waiting } = await inFlight;
    expect(waiting).toBe(true);
    const { conversation, stopped } = await switching;
    expect(conversation.epoch).toBe(2);
    expect(stopped).toHaveLength(1);
    expect((await own.insert()).inserted).toBe(false);
  });

  it('are found by their owner alone', async () => {
    const { cellId } = await started();
    for (const foreign of [{ tenantId: 't_other' }, { conversationId: 'other' }, { epoch: 9 }, { writer: 'ann' }]) {
      const owner = { ...store.owner, ...foreign };
      expect(await viewCell(store.db, owner, cellId)).toBeUndefined();
      expect(await takePlace(store.db, owner, cellId, 'api-y.1', 1)).toEqual({ taken: false, why: 'none' });
      expect(await stopCell(store.db, owner, cellId)).toBeUndefined();
    }
    expect(await viewCell(store.db, store.owner, cellId)).toBeDefined();
  });

  it('have one observer until its lease is over', async () => {
    const { cellId } = await started({ observer: 'api-a.1' });
    const take = (observer: string) => takePlace(store.db, store.owner, cellId, observer, 1_000);
    expect(await take('api-b.1')).toEqual({ taken: false, why: 'busy' });
    await run(`UPDATE cells SET observer_until = now() - interval '1 ms' WHERE id = $1`, [cellId]);
    expect(await take('api-b.1')).toMatchObject({ taken: true });
    expect(await renewPlaces(store.db, [{ cellId, observer: 'api-a.1' }])).toEqual(new Set());
    expect(await renewPlaces(store.db, [{ cellId, observer: 'api-b.1' }])).toEqual(new Set(['api-b.1']));
  });

  it('move their mark by compare-and-set on the mark and the observer', async () => {
    const claimed = await started({ observer: 'api-m.1' });
    const { cellId } = claimed;
    await store.end(claimed, [], [text('a'), text('b'), text('c')]);
    const mark = (observer: string, since: number, upTo: number, final: boolean) =>
      markCollected(store.db, [{ cellId, observer, since, upTo, final, calls: [] }]);
    const view = () => viewCell(store.db, store.owner, cellId);
    await mark('api-m.2', 0, 3, true);
    await mark('api-m.1', 1, 3, true);
    expect((await view())?.collected).toBe(0);
    await mark('api-m.1', 0, 2, false);
    expect(await view()).toMatchObject({ collected: 2, observer: null, items: [text('c')] });
    await mark('api-m.1', 2, 3, true);
    expect((await view())?.collected).toBe(2);
  });

  it('keep the first boundary for the first observer and drop those that nobody observes', async () => {
    const { cellId } = await started({ observer: 'api-o.1' });
    const ref = store.ref(cellId);
    const view = () => viewCell(store.db, store.owner, cellId);
    await spillOutput(store.db, ref, { first: 0, items: [text('a')] }, 1);
    await spillOutput(store.db, ref, { first: 1, items: [text('b')] }, 2);
    expect((await view())?.boundary).toBe(1);
    await markCollected(store.db, [{ cellId, observer: 'api-o.1', since: 0, upTo: 1, final: false, calls: [] }]);
    await spillOutput(store.db, ref, { first: 2, items: [] }, 2);
    expect((await view())?.boundary).toBeNull();
    await takePlace(store.db, store.owner, cellId, 'api-o.2', 1_000);
    await spillOutput(store.db, ref, { first: 2, items: [] }, 2);
    expect((await view())?.boundary).toBe(2);
  });

  it('end as worker_lost when the row of their worker is gone, and only those', async () => {
    await using own = await StoreFixture.create(4);
    const { cellId } = await own.insert();
    const claimed = await own.claim(cellId);
    const queued = await own.insert();
    expect(await endOrphans(own.db)).toEqual([]);
    await removeWorker(own.db, own.workerId, 77);
    expect(await endOrphans(own.db)).toEqual([]);
    await removeWorker(own.db, own.workerId, 0);
    expect((await endOrphans(own.db)).map((cell) => cell.cellId)).toEqual([cellId]);
    expect(claimed && (await own.end(claimed))).toBeUndefined();
    expect((await viewCell(own.db, own.owner, cellId))?.failure?.code).toBe('worker_lost');
    expect((await viewCell(own.db, own.owner, queued.cellId))?.state).toBe('queued');
  });

  it('end as no_worker when nobody took them in time, and get another job before that', async () => {
    await using own = await StoreFixture.create(4);
    const { cellId } = await own.insert();
    const age = (seconds: number) =>
      own.db.query(
        {
          name: 'age',
          text: `UPDATE cells SET created_at = created_at - $1 * interval '1 s', wake_at = wake_at - $1 * interval '1 s'`,
        },
        [seconds],
      );
    expect(await findLongQueued(own.db)).toEqual([]);
    await age(6);
    expect(await findLongQueued(own.db)).toEqual([{ cellId, stretch: 1 }]);
    expect(await endUnclaimed(own.db)).toEqual([]);
    await age(55);
    expect((await endUnclaimed(own.db)).map((cell) => cell.cellId)).toEqual([cellId]);
    const view = await viewCell(own.db, own.owner, cellId);
    expect(view).toMatchObject({ state: 'failed', complete: true, failure: { code: 'no_worker' } });
    expect(await own.claim(cellId)).toBeUndefined();
  });

  it('end with output, errors and warnings that hold NUL and lone surrogates', async () => {
    const claimed = await started({ source: 'text("\0\ud800")' });
    expect(claimed.source).toBe('text("\0\ud800")');
    const odd = 'a\0b\ud800c';
    await endCell(store.db, store.ref(claimed.cellId), {
      state: 'failed',
      failure: { code: 'script_error', message: odd, frames: odd },
      warnings: [{ code: 'x', message: odd }],
      cpuMs: 0.5,
      output: { first: 0, items: [text(odd)] },
    });
    const view = await viewCell(store.db, store.owner, claimed.cellId);
    expect(view).toMatchObject({
      items: [text(odd)],
      failure: { code: 'script_error', message: odd, frames: odd },
      warnings: [{ code: 'x', message: odd }],
    });
  });
});

/** Whether a session of this database waits for a lock, as soon as one does. */
async function untilWaiting(store: StoreFixture): Promise<boolean> {
  const waiting = { name: 'waiting', text: `SELECT 1 FROM pg_locks WHERE NOT granted` };
  return eventually(async () => (await store.db.query(waiting, [])).length > 0);
}
