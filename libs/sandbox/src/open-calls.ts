import { limits } from '#libs/core';
import type { CallResult } from './port.js';
import type { SettledCall } from './protocol.js';

/** The calls of one cell on the main side: those that were told, and the results that the script has not got yet. */
export class OpenCalls {
  private readonly open: Set<number>;
  private results: SettledCall[] = [];

  /** `open`: those that the script waits for already. */
  constructor(open: readonly number[]) {
    this.open = new Set(open);
  }

  /** Calls that have not been settled, in the order of their start. */
  get ids(): number[] {
    return [...this.open];
  }

  /** Whether there is a result for the script. */
  get haveResults(): boolean {
    return this.results.length > 0;
  }

  /** A call was told. */
  started(callId: number): void {
    this.open.add(callId);
  }

  /** Takes a result. False when the call is not open. */
  settle(callId: number, result: CallResult): boolean {
    if (!this.open.delete(callId)) return false;
    this.results.push({ callId, result: bounded(result) });
    return true;
  }

  /** Hands the results over, in the order in which they came. */
  take(): SettledCall[] {
    const { results } = this;
    this.results = [];
    return results;
  }
}

function bounded(result: CallResult): CallResult {
  if (!result.ok) return { ok: false, message: result.message.slice(0, limits.errorBytes) };
  const { length } = result.json;
  if (length <= limits.callResultChars) return result;
  return {
    ok: false,
    message: `The tool's result has ${length} characters of JSON, and a script can take ${limits.callResultChars}; ask the tool for less.`,
  };
}
