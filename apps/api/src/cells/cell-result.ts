import type { CellResult } from '#libs/contracts';
import { type OutputItem, shownCallState } from '#libs/core';
import type { ListedCall } from '#libs/persistence';
import { type CallSummary, type Effective, type FormatInput, type FormattedResult, base64Bytes } from '#libs/script';
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
    // The error of a lost worker names them itself.
    calls: view.failure?.code === 'worker_lost' ? [] : calls.newest.map(toSummary),
    warnings: final ? view.warnings : [],
    maxTokens,
  };
}

function toSummary({ identifier, state }: ListedCall): CallSummary {
  return { identifier, state: shownCallState(state) };
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
    artifacts: artifactsOf(view.items.slice(0, verdict.items), formatted),
    calls: calls.newest.map(toCallRow),
    effective,
    timings: view.timings,
  };
}

/** The files that an answer shows or names, each once. */
function artifactsOf(items: readonly OutputItem[], { fullText }: FormattedResult): CellResult['artifacts'] {
  const artifacts = new Map<string, CellResult['artifacts'][number]>();
  for (const item of items) {
    if (item.kind !== 'image' || item.artifactId === undefined) continue;
    const { artifactId, mimeType, data } = item;
    artifacts.set(artifactId, { artifactId, kind: 'image', mimeType, bytes: base64Bytes(data) });
  }
  if (fullText === undefined) return [...artifacts.values()];
  const { artifactId, bytes } = fullText;
  const mimeType = 'text/plain; charset=utf-8';
  const output = { artifactId, kind: 'output', mimeType, bytes: bytes.length } as const;
  return [...artifacts.values(), output];
}
