import { type CellState, type Owner, limits } from '#libs/core';
import type { Database } from '../database.js';
import { type CellView, type ViewRow, toView, viewColumns } from './rows.js';

const ownedBy = `c.id = $1 AND c.tenant_id = $2 AND c.conversation_id = $3 AND c.epoch = $4 AND c.writer = $5`;

function ownerParameters(owner: Owner, cellId: string): unknown[] {
  return [cellId, owner.tenantId, owner.conversationId, owner.epoch, owner.writer];
}

const view = {
  name: 'cell-view',
  text: `SELECT ${viewColumns} FROM cells c
    LEFT JOIN cell_output o ON o.tenant_id = c.tenant_id AND o.cell_id = c.id AND o.first + o.count > c.collected
    WHERE ${ownedBy} AND (c.closed_at IS NULL OR $6)
    ORDER BY o.first`,
};

/**
 * The cell with what has not been collected; undefined when this owner has no such cell, or it is closed
 * (`evenClosed`: also one whose end has been collected).
 */
export async function viewCell(
  db: Database,
  owner: Owner,
  cellId: string,
  { evenClosed = false } = {},
): Promise<CellView | undefined> {
  return toView(await db.query<ViewRow>(view, [...ownerParameters(owner, cellId), evenClosed]));
}

const take = {
  name: 'cell-take-place',
  text: `UPDATE cells c SET observer = $6, observer_until = now() + $7 * interval '1 ms',
      yield_at = now() + $8::float8 * interval '1 ms'
    WHERE ${ownedBy} AND c.closed_at IS NULL AND (c.observer IS NULL OR c.observer_until <= now())
    RETURNING c.state, c.worker_id`,
};

/** Whether the place was taken, and if not, why. `ended`: the observer that has the place is getting the end. */
export type TakenPlace =
  { taken: true; state: CellState; workerId: string | null } | { taken: false; why: 'busy' | 'ended' | 'none' };

const look = {
  name: 'cell-look-place',
  text: `SELECT c.state FROM cells c WHERE ${ownedBy} AND c.closed_at IS NULL`,
};

/** Takes the observer's place of a cell for 5 s by the database's clock, if it is free. */
export async function takePlace(
  db: Database,
  owner: Owner,
  cellId: string,
  observer: string,
  yieldInMs: number,
): Promise<TakenPlace> {
  const parameters = ownerParameters(owner, cellId);
  const [row] = await db.query<{ state: CellState; worker_id: string | null }>(take, [
    ...parameters,
    observer,
    limits.observerLeaseMs,
    yieldInMs,
  ]);
  if (row) return { taken: true, state: row.state, workerId: row.worker_id };
  const [seen] = await db.query<{ state: CellState }>(look, parameters);
  if (!seen) return { taken: false, why: 'none' };
  return { taken: false, why: seen.state === 'queued' || seen.state === 'running' ? 'busy' : 'ended' };
}

const renew = {
  name: 'cells-renew-places',
  text: `UPDATE cells c SET observer_until = now() + $3 * interval '1 ms'
    FROM unnest($1::text[], $2::text[]) AS m(id, observer)
    WHERE c.id = m.id AND c.observer = m.observer
    RETURNING c.observer`,
};

/** One observation of one cell. The observer's token is unguessable and was put into the row under its owner. */
export interface Observation {
  cellId: string;
  observer: string;
}

/** Renews the places of all observations of this process in one statement; returns the observers that still have one. */
export async function renewPlaces(db: Database, places: readonly Observation[]): Promise<Set<string>> {
  const rows = await db.query<{ observer: string }>(renew, [
    places.map((place) => place.cellId),
    places.map((place) => place.observer),
    limits.observerLeaseMs,
  ]);
  return new Set(rows.map((row) => row.observer));
}

/** What an answer handed over. `since` is the mark it started from. */
export interface Collected extends Observation {
  since: number;
  upTo: number;
  /** The final state was in the answer: the cell is closed. */
  final: boolean;
  /** Open calls that the answer listed. */
  calls: readonly string[];
}

const mark = {
  name: 'cells-mark-collected',
  text: `
    WITH marked AS (
      UPDATE cells c SET collected = m.up_to, observer = NULL, observer_until = NULL, yield_at = NULL,
        boundary = NULL, observed = true, closed_at = CASE WHEN m.final THEN now() END
      FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bool[]) AS m(id, observer, since, up_to, final)
      WHERE c.id = m.id AND c.observer = m.observer AND c.collected = m.since
      RETURNING c.id
    )
    UPDATE calls k SET told = true, state = CASE WHEN k.state = 'pending' THEN 'delivered' ELSE k.state END
    FROM marked WHERE k.id = ANY($6::text[]) AND k.cell_id = marked.id AND NOT k.told`,
};

/**
 * Moves the marks of answers that were written out, by compare-and-set, frees the places, and remembers which calls
 * were told (9. Protocols, 16).
 * Commits asynchronously: after a crash of Postgres an answer may be given again, which is what a crash may do.
 */
export async function markCollected(db: Database, answers: readonly Collected[]): Promise<void> {
  await db.relaxed(mark, [
    answers.map((answer) => answer.cellId),
    answers.map((answer) => answer.observer),
    answers.map((answer) => answer.since),
    answers.map((answer) => answer.upTo),
    answers.map((answer) => answer.final),
    answers.flatMap((answer) => answer.calls),
  ]);
}

const leave = {
  name: 'cell-leave-place',
  text: `UPDATE cells SET observer = NULL, observer_until = NULL, yield_at = NULL WHERE id = $1 AND observer = $2`,
};

/** Frees the observer's place without having collected anything: the connection broke. */
export async function leavePlace(db: Database, place: Observation): Promise<void> {
  await db.query(leave, [place.cellId, place.observer]);
}

const yieldTimes = {
  name: 'cells-yield-times',
  text: `SELECT id, stretch, state, CASE WHEN observer IS NOT NULL AND observer_until > now() THEN observer END AS observer,
      (extract(epoch FROM yield_at - clock_timestamp()) * 1000)::float8 AS yield_in_ms
    FROM cells WHERE id = ANY($1::text[]) AND worker_id = $2`,
};

/** What a worker must know of a cell that it runs: whether it still does, and until when somebody observes. */
export interface RunningRow {
  cellId: string;
  stretch: number;
  state: CellState;
  observer: string | null;
  yieldInMs: number | null;
}

/** Looks again at the cells that a worker runs, in one statement (9. Protocols, 22). */
export async function lookAtRunning(db: Database, workerId: string, cellIds: readonly string[]): Promise<RunningRow[]> {
  const rows = await db.query<{
    id: string;
    stretch: number;
    state: CellState;
    observer: string | null;
    yield_in_ms: number | null;
  }>(yieldTimes, [cellIds, workerId]);
  return rows.map((row) => ({
    cellId: row.id,
    stretch: row.stretch,
    state: row.state,
    observer: row.observer,
    yieldInMs: row.yield_in_ms,
  }));
}
