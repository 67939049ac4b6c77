import type { CellErrorCode, CellFailure, CellState, CellWarning, Dialect, OutputItem } from '#libs/core';

/** What the first line and the settings came to, kept with the cell as JSON. */
export interface CellOptions {
  /** Output budget of the cell's own answer, in estimated tokens. */
  maxOutputTokens: number;
  /** The values in force, named as in the result. */
  effective: { yield_time_ms?: number; max_output_tokens?: number; timeout_ms?: number };
  /** CPU budgets and the wall limit, in ms. */
  limits: { cpuMs: number; stretchCpuMs: number; wallMs: number };
}

/** A cell as its observer sees it: the row and the output that has not been collected. */
export interface CellView {
  cellId: string;
  tenantId: string;
  dialect: Dialect;
  state: CellState;
  workerId: string | null;
  /** The script's own output budget, in estimated tokens. */
  maxOutputTokens: number;
  observer: string | null;
  /** Items below this number have been collected. */
  collected: number;
  /** Items from `collected` on that are in Postgres. */
  items: OutputItem[];
  /** The observer gets the items below this number and the cell counts as running, even if it has ended. */
  boundary: number | null;
  /** No more output can come. */
  complete: boolean;
  /** The observation time is over, by the database's clock. */
  yieldDue: boolean;
  /** The worker has written what there was for this observer. */
  spilled: boolean;
  /** Whether the script has called tools, and whether it waits for nothing but calls that no answer has told yet. */
  calls: 'none' | 'told' | 'untold';
  failure?: CellFailure;
  warnings: CellWarning[];
  timings: { queuedMs: number; wallMs: number; cpuMs: number };
}

/** The columns of {@link viewColumns}, with one row per chunk of output. */
export interface ViewRow {
  id: string;
  tenant_id: string;
  dialect: Dialect;
  state: CellState;
  worker_id: string | null;
  options: string;
  observer: string | null;
  collected: number;
  boundary: number | null;
  complete: boolean;
  yield_due: boolean | null;
  spilled: boolean | null;
  calls: CellView['calls'];
  error_code: CellErrorCode | null;
  error: string | null;
  warnings: string;
  queued_ms: number;
  wall_ms: number;
  cpu_ms: number;
  first: number | null;
  items: string | null;
}

/** Milliseconds between two timestamps, as SQL. */
export const ms = (from: string, to: string): string => `(extract(epoch FROM ${to} - ${from}) * 1000)::float8`;

/** Columns of `cells c LEFT JOIN cell_output o` that make a {@link CellView}. */
export const viewColumns = `c.id, c.tenant_id, c.dialect, c.state, c.worker_id, c.options, c.observer, c.collected, c.boundary,
  c.complete, c.yield_at <= clock_timestamp() + interval '5 ms' AS yield_due,
  CASE WHEN EXISTS (SELECT 1 FROM calls k WHERE k.cell_id = c.id AND k.ended_at IS NULL AND k.asked AND NOT k.told) THEN 'untold'
       WHEN EXISTS (SELECT 1 FROM calls k WHERE k.cell_id = c.id) THEN 'told' ELSE 'none' END AS calls,
  c.spilled_for = c.observer AS spilled, c.error_code, c.error, c.warnings, c.cpu_ms, o.first, o.items,
  ${ms('c.created_at', 'coalesce(c.started_at, c.ended_at, clock_timestamp())')} AS queued_ms,
  ${ms('c.created_at', 'coalesce(c.ended_at, clock_timestamp())')} AS wall_ms`;

/** Makes the view from the rows of one cell, ordered by `first`. */
export function toView(rows: readonly ViewRow[]): CellView | undefined {
  const row = rows[0];
  if (!row) return undefined;
  const items: OutputItem[] = [];
  for (const chunk of rows) {
    if (chunk.items === null || chunk.first === null) continue;
    const parsed = JSON.parse(chunk.items) as OutputItem[];
    items.push(...(chunk.first < row.collected ? parsed.slice(row.collected - chunk.first) : parsed));
  }
  return {
    cellId: row.id,
    tenantId: row.tenant_id,
    dialect: row.dialect,
    state: row.state,
    workerId: row.worker_id,
    maxOutputTokens: (JSON.parse(row.options) as CellOptions).maxOutputTokens,
    observer: row.observer,
    collected: row.collected,
    items,
    boundary: row.boundary,
    complete: row.complete,
    yieldDue: row.yield_due === true,
    spilled: row.spilled === true,
    calls: row.calls,
    ...(row.error_code === null ? {} : { failure: toFailure(row.error_code, row.error) }),
    warnings: JSON.parse(row.warnings) as CellWarning[],
    timings: { queuedMs: Math.max(0, row.queued_ms), wallMs: Math.max(0, row.wall_ms), cpuMs: row.cpu_ms },
  };
}

/** The failure kept in `error_code` and `error`. */
export function toFailure(code: CellErrorCode, error: string | null): CellFailure {
  return { code, message: '', ...(error === null ? {} : (JSON.parse(error) as Omit<CellFailure, 'code'>)) };
}

/** The columns `error_code` and `error` of a failure. */
export function fromFailure(failure: CellFailure | undefined): [CellErrorCode | null, string | null] {
  if (!failure) return [null, null];
  const { code, ...text } = failure;
  return [code, JSON.stringify(text)];
}
