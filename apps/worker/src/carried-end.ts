import type { CarriedEnd } from '#libs/contracts';
import type { CommittedEnd, OutputChunk } from '#libs/persistence';
import type { CellOutcome } from '#libs/sandbox';
import type { CellFacts } from './cell-end.js';

/**
 * The end as the observer would read it, to ride on its doorbell; undefined when the row holds more than came with the
 * end. Of a cell that has called tools the observer reads the calls anyway.
 */
export function carriedEnd(
  facts: CellFacts,
  outcome: CellOutcome,
  committed: CommittedEnd,
  { first, items }: OutputChunk,
): CarriedEnd | undefined {
  const { state, failure, boundary, collected, timings } = committed;
  if (state === 'terminated' || boundary !== null || collected !== first) return undefined;
  const { dialect, options, owner } = facts;
  return {
    tenantId: owner.tenantId,
    dialect,
    state,
    maxOutputTokens: options.maxOutputTokens,
    collected,
    items: [...items],
    ...(failure && { failure }),
    warnings: [...outcome.warnings],
    timings,
  };
}
