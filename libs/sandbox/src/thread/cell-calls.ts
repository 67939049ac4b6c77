import { limits } from '#libs/core';
import type { CallResult, ProgramCall } from '../port.js';
import { EngineAbortError } from './imports.js';
import type { ToolView } from './tool-view.js';

/** Room around a call's arguments in its message, in bytes. */
const FRAME_BYTES = 64;

/** Largest message of a call, in bytes. */
export const CALL_BYTES = limits.argumentBytes + FRAME_BYTES;

const CALL = /^\[(\d{1,9}),(\d{1,9}),/;

/**
 * The tool calls of one script, on its thread. The prelude keeps the limits; a message that breaks one comes from an
 * engine that is out of order.
 */
export class CellCalls {
  private readonly open = new Set<number>();
  private last = 0;
  private made = 0;

  constructor(private readonly view: ToolView) {}

  /** Whether the script waits for a result. */
  get areOpen(): boolean {
    return this.open.size > 0;
  }

  /** Reads a call's message: `[call id, position in the view, arguments]`. */
  start(message: string): ProgramCall {
    const head = CALL.exec(message);
    const callId = Number(head?.[1]);
    const identifier = this.view.identifier(Number(head?.[2]));
    const argumentsJson = message.slice(head?.[0].length ?? 0, -1);
    this.made += 1;
    const inOrder = callId > this.last && this.open.size < limits.callsUnderWay && this.made <= limits.callsPerCell;
    if (identifier === undefined || !inOrder || !isObjectJson(argumentsJson)) {
      throw new EngineAbortError('an unusable tool call');
    }
    this.last = callId;
    this.open.add(callId);
    return { callId, identifier, argumentsJson };
  }

  /** The message that settles a call in the guest; undefined when the call is not open. */
  settle({ callId, result }: { callId: number; result: CallResult }): string | undefined {
    if (!this.open.delete(callId)) return undefined;
    return result.ok ? `${callId}:1${result.json}` : `${callId}:0${JSON.stringify(result.message)}`;
  }
}

function isObjectJson(json: string): boolean {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
