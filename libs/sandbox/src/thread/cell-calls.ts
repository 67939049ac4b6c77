import { Buffer } from 'node:buffer';
import type { JSValueConstPointer } from 'quickjs-emscripten';
import { limits } from '#libs/core';
import type { ProgramCall } from '../port.js';
import type { SettledCall } from '../protocol.js';
import type { ScriptState } from '../script-state.js';
import type { Guest } from './guest.js';
import { EngineAbortError } from './imports.js';
import { answerInquiry, INQUIRY_BYTES } from './inquiries.js';
import { ANSWER, KIND } from './kinds.js';
import type { Outbox } from './outbox.js';
import type { ToolView } from './tool-view.js';

/** Largest message of a call, in bytes: its arguments and what stands around them. */
const CALL_BYTES = limits.argumentBytes + 64;
/** Largest name that the prelude asks for, in bytes of JSON. */
const NAME_BYTES = 2_048;

const CALL = /^\[(\d{1,9}),(\d{1,9}),/;

/**
 * The tools of one script, on its thread. The prelude keeps the limits of calls; a message that breaks one comes from
 * an engine that is out of order.
 */
export class CellCalls {
  private readonly open = new Set<number>();
  private last = 0;
  private made = 0;

  constructor(
    private readonly cell: number,
    private readonly guest: Guest,
    private readonly outbox: Outbox,
    private readonly view: ToolView,
  ) {}

  /** What an image must go with; `restore` takes it back. */
  get state(): Pick<ScriptState, 'lastCall' | 'callsMade' | 'openCalls'> {
    return { lastCall: this.last, callsMade: this.made, openCalls: [...this.open] };
  }

  restore({ lastCall, callsMade, openCalls }: ScriptState): void {
    this.last = lastCall;
    this.made = callsMade;
    for (const callId of openCalls) this.open.add(callId);
  }

  /** Whether the script waits for a result. */
  get areOpen(): boolean {
    return this.open.size > 0;
  }

  /** Answers a message about tools; undefined as well when there is no such tool. */
  receive(kind: number, payload: JSValueConstPointer): number | string | undefined {
    switch (kind) {
      case KIND.tool:
        return this.view.names.find(this.name(payload));
      case KIND.missingTool:
        return JSON.stringify(this.view.names.describeMissing(this.name(payload)));
      case KIND.toolNames:
        return JSON.stringify(this.view.identifiers());
      case KIND.allTools:
        return this.view.listJson();
      case KIND.bytes:
        return Buffer.byteLength(this.guest.textOf(payload, 3 * limits.argumentBytes) ?? '');
      case KIND.call:
        return this.call(payload);
      case KIND.inquiry:
        return this.inquiry(payload);
      default:
        throw new EngineAbortError(`a message of unknown kind ${kind}`);
    }
  }

  /** The message that settles a call in the guest; undefined when the call is not open. */
  settle({ callId, result }: SettledCall): string | undefined {
    if (!this.open.delete(callId)) return undefined;
    return result.ok ? `${callId}:1${result.json}` : `${callId}:0${JSON.stringify(result.message)}`;
  }

  private inquiry(payload: JSValueConstPointer): string | undefined {
    const message = this.guest.textOf(payload, INQUIRY_BYTES);
    return message === undefined ? undefined : answerInquiry(message, this.view);
  }

  private call(payload: JSValueConstPointer): number | undefined {
    const message = this.guest.textOf(payload, CALL_BYTES);
    if (message === undefined) return ANSWER.noMemory;
    this.outbox.tell({ type: 'call', cell: this.cell, ...this.read(message) });
    return undefined;
  }

  /** Reads `[call id, position in the view, arguments]`. */
  private read(message: string): ProgramCall {
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

  /** A tool's name as the script wrote it. */
  private name(payload: JSValueConstPointer): string {
    return String(JSON.parse(this.guest.textOf(payload, NAME_BYTES) ?? '""'));
  }
}

function isObjectJson(json: string): boolean {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
