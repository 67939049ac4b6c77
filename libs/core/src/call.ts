/** The states of a tool call, as kept in Postgres. `delivered`: its owner has been told. */
export type CallState = 'pending' | 'delivered' | 'settled' | 'failed' | 'cancelled' | 'expired';

/** A call as transcripts show it. */
export type ShownCallState = 'running' | 'completed' | 'failed' | 'cancelled';

/** Whether a call waits for its result. */
export function isOpenCall(state: CallState): boolean {
  return state === 'pending' || state === 'delivered';
}

/** The state as a transcript shows it: a call whose time was up has failed. */
export function shownCallState(state: CallState): ShownCallState {
  switch (state) {
    case 'pending':
    case 'delivered':
      return 'running';
    case 'settled':
      return 'completed';
    case 'failed':
    case 'expired':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
  }
}

/** What came of posting one result: the idempotency key is the call's id. */
export type SettleStatus = 'settled' | 'duplicate' | 'conflict' | 'closed' | 'not_found';
