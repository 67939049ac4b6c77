import { CELL_STATES, type CellEvent, type CellState, nextState } from '#libs/core';
import { endOrphans, endUnclaimed, removeWorker, stopCell, viewCell } from '#libs/persistence';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreFixture } from './store-fixture.js';

/** How each event of the state machine comes about in the database. */
const statements: Record<string, { event: CellEvent; from: readonly CellState[]; play: Play }> = {
  'a claim': {
    event: { kind: 'claimed' },
    from: CELL_STATES,
    play: async (store, cellId) => void (await store.claim(cellId)),
  },
  'a stop': {
    event: { kind: 'stopped' },
    from: CELL_STATES,
    play: async (store, cellId) => void (await stopCell(store.db, store.owner, cellId)),
  },
  // A queued cell has no worker that could end it; only the sweeper ends it.
  'an end by its worker': {
    event: { kind: 'ended', state: 'completed' },
    from: CELL_STATES.filter((state) => state !== 'queued'),
    play: (store, cellId) => store.endById(cellId),
  },
  'the sweeper': {
    event: { kind: 'ended', state: 'failed' },
    from: CELL_STATES.filter((state) => state !== 'running'),
    play: async (store) => {
      await store.db.query({ name: 'late', text: `UPDATE cells SET wake_at = now() WHERE wake_at IS NOT NULL` }, []);
      await endUnclaimed(store.db);
    },
  },
  'the reaper': {
    event: { kind: 'ended', state: 'failed' },
    from: CELL_STATES.filter((state) => state !== 'queued'),
    play: async (store) => {
      await removeWorker(store.db, store.workerId);
      await endOrphans(store.db);
    },
  },
};

type Play = (store: StoreFixture, cellId: string) => Promise<void>;

const cases = Object.entries(statements).flatMap(([name, { event, from, play }]) =>
  from.map((state) => ({ name, state, expected: nextState(state, event) ?? state, play })),
);

describe('the states of a cell in the database', () => {
  let store: StoreFixture;
  beforeEach(async () => (store = await StoreFixture.create(4)));
  afterEach(() => store[Symbol.asyncDispose]());

  it.each(cases)('$name on a cell that is $state makes it $expected', async ({ state, expected, play }) => {
    const { cellId } = await store.insert();
    if (state !== 'queued') await store.claim(cellId);
    if (state === 'terminated') await stopCell(store.db, store.owner, cellId);
    if (state === 'completed') await store.endById(cellId);
    if (state === 'failed') await store.endById(cellId, 'failed');
    await play(store, cellId);
    expect((await viewCell(store.db, store.owner, cellId))?.state).toBe(expected);
  });
});
