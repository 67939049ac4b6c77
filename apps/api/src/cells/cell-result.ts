import type { CellResult } from '#libs/contracts';
import { shownCallState } from '#libs/core';
import type { Effective, FormattedResult, FormatInput } from '#libs/script';
import { toCallRow, toPendingCall } from './call-rows.js';
import type { Observed } from './cell-observer.js';

/** What the formatter needs of an observation. */
export function formatInput({ view, verdict, calls }: Observed, maxTokens: number): FormatInput {
  const final = verdict.state !== 'running';
  return {
    dialect: view.dialect,
    state: verdict.state,
    cellId: view.cellId,
    wallMs: view.timings.wallMs,
    items: view.items.slice(0, verdict.items),
    ...(final && view.failure ? { failure: view.failure } : {}),
    calls: calls.newest.map(({ identifier, state }) => ({ identifier, state: shownCallState(state) })),
    warnings: final ? view.warnings : [],
    maxTokens,
  };
}

/** The body of an answer about a cell. */
export function toCellResult(
  { view, verdict, calls }: Observed,
  formatted: FormattedResult,
  effective: Effective,
): CellResult {
  const final = verdict.state !== 'running';
  const { failure } = view;
  return {
    cellId: view.cellId,
    dialect: view.dialect,
    state: verdict.state,
    content: formatted.content,
    isError: verdict.state === 'failed',
    ...(final && failure ? { error: { code: failure.code, message: failure.message } } : {}),
    notes: [],
    pendingCalls: final ? [] : calls.open.map(toPendingCall),
    pendingApprovals: [],
    warnings: final ? view.warnings : [],
    artifacts: [],
    calls: calls.newest.map(toCallRow),
    effective,
    timings: view.timings,
  };
}
