import type { CallRow, PendingCall } from '#libs/contracts';
import { shownCallState } from '#libs/core';
import type { ListedCall } from '#libs/persistence';

/** A call as its owner is asked to run it. */
export function toPendingCall(call: ListedCall): PendingCall {
  const { callId, tool, namespace, toolset, identifier } = call;
  return {
    callId,
    tool,
    ...(namespace === undefined ? {} : { namespace }),
    toolset,
    identifier,
    arguments: JSON.parse(call.arguments ?? '{}') as Record<string, unknown>,
    expiresAt: call.expiresAt.toISOString(),
  };
}

/** A call as a row of a transcript. */
export function toCallRow({ callId, identifier, state, durationMs }: ListedCall): CallRow {
  return { callId, identifier, row: identifier, state: shownCallState(state), durationMs };
}
