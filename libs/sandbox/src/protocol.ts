import type { CellErrorCode, Dialect, OutputItem, ValueWrite } from '#libs/core';
import { CELL_ERROR_CODES, limits } from '#libs/core';
import type { CallResult } from './port.js';
import { isScriptState, type ScriptState } from './script-state.js';
import {
  isAmount,
  isCount,
  isItem,
  isListOf,
  areWarnings,
  areWrites,
  isSettledCall,
  isSharedView,
  isChanges,
  isText,
} from './protocol-checks.js';
import type { SharedView } from './views.js';
import './webassembly.js';

/** What a thread gets when it is started. */
export interface ThreadSetup {
  /** The compiled engine, shared by all threads. */
  module: WebAssembly.Module;
  /** Text of the guest's prelude. */
  prelude: string;
  /** SHA-256 that the base image must have. */
  imageVersion: string;
  /** Words shared with the main side; see SIGNAL. */
  signals: SharedArrayBuffer;
  /** Output on its way; see OutputJournal. */
  journal: SharedArrayBuffer;
  /** Whether to compare the whole memory after every cell (tests; tens of ms per cell). */
  verifyRestores: boolean;
}

/** Indexes of the shared words. */
export const SIGNAL = {
  /** 1: the running script must stop. */
  stop: 0,
  /** 1: the next `yield_control()` is reported, and clears this. */
  boundary: 1,
  count: 2,
} as const;

/** A call that has come to its end. */
export interface SettledCall {
  callId: number;
  result: CallResult;
}

/** What a thread must know of each cell that it gets. */
interface CellBasis {
  cell: number;
  tenantId: string;
  cpuMs: number;
  stretchCpuMs: number;
  /** The tools; null when there are none. */
  view: SharedView | null;
}

/** What a waiting script goes on with: settled calls, and timers in the order in which they are due. */
export interface WakeUp {
  timers: number[];
  results: SettledCall[];
}

/** From the main side to a thread. */
export type ToThread =
  | ({
      type: 'start';
      dialect: Dialect;
      source: string;
      /** key, JSON, key, JSON, ... */
      values: string[];
      /** Two unsigned 32-bit halves. */
      seed: readonly [number, number];
    } & CellBasis)
  | ({ type: 'resume'; cell: number } & WakeUp)
  /** Asks for the memory of a waiting script; the thread is free after the `image` that answers. */
  | { type: 'hibernate'; cell: number }
  /** A hibernated script goes on, perhaps on another thread. */
  | ({ type: 'wake'; changes: ArrayBuffer; state: ScriptState; isForeign: boolean } & CellBasis & WakeUp)
  /** Ends a waiting cell; a running one sees the shared word. */
  | { type: 'stop'; cell: number };

/** How a script ended, as its thread saw it. */
export type ScriptEnd =
  | { kind: 'completed'; writes: ValueWrite[]; warnings: string[] }
  | {
      kind: 'failed';
      code: CellErrorCode;
      message: string;
      frames: string;
      writes: ValueWrite[];
      /** Reasons of rejections that nobody handled. */
      warnings: string[];
    }
  /** The shared word or the message said stop; the main side knows why. */
  | { kind: 'stopped' };

/** From a thread to the main side. */
export type FromThread =
  | { type: 'ready'; imageVersion: string }
  /** The thread will not serve, for instance because its base image has another version. */
  | { type: 'refused'; reason: string }
  /** Batches are numbered from 1 in each cell. */
  | { type: 'output'; cell: number; batch: number; items: OutputItem[] }
  | { type: 'boundary'; cell: number; items: number }
  | { type: 'timer'; cell: number; id: number; delayMs: number }
  | { type: 'untimer'; cell: number; id: number }
  | { type: 'call'; cell: number; callId: number; identifier: string; argumentsJson: string }
  | { type: 'note'; cell: number; text: string }
  /** Nothing to run until a timer is due or a call settled. */
  | { type: 'waiting'; cell: number; cpuMs: number }
  /** A waiting script's memory, as what it has that the base image has not. The thread has forgotten it. */
  | { type: 'image'; cell: number; changes: ArrayBuffer; state: ScriptState }
  /** The script has ended, but its thread is still on the way out of it. */
  | { type: 'reached'; cell: number; end: ScriptEnd }
  /** The guest runs no more. `retire`: the thread must not serve again. */
  | { type: 'ended'; cell: number; end: ScriptEnd; cpuMs: number; retire: string | null };

const CODES: ReadonlySet<unknown> = new Set(CELL_ERROR_CODES);

/** A message to a thread, checked: undefined when it has not one of the forms above or is over a size cap. */
export function parseToThread(message: unknown): ToThread | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const m = message as Record<string, unknown>;
  if (!isCount(m['cell'])) return undefined;
  switch (m['type']) {
    case 'start':
      return isStart(m) ? (m as ToThread) : undefined;
    case 'resume':
      return isWakeUp(m) ? (m as ToThread) : undefined;
    case 'wake':
      return isBasis(m) && isWakeUp(m) && isScriptState(m['state']) && isChanges(m['changes'])
        ? (m as ToThread)
        : undefined;
    case 'hibernate':
    case 'stop':
      return m as ToThread;
    default:
      return undefined;
  }
}

function isStart(m: Record<string, unknown>): boolean {
  return (
    isBasis(m) &&
    (m['dialect'] === 'exec' || m['dialect'] === 'codemode') &&
    isText(m['source'], limits.sourceBytes) &&
    isListOf(m['values'], (value) => isText(value, limits.valueChars), 2 * limits.valuesChars) &&
    isListOf(m['seed'], isCount, 2)
  );
}

function isBasis(m: Record<string, unknown>): boolean {
  return (
    isText(m['tenantId'], 128) &&
    isAmount(m['cpuMs']) &&
    isAmount(m['stretchCpuMs']) &&
    (m['view'] === null || isSharedView(m['view']))
  );
}

function isWakeUp(m: Record<string, unknown>): boolean {
  return (
    isListOf(m['timers'], isCount, limits.pendingTimers) && isListOf(m['results'], isSettledCall, limits.callsUnderWay)
  );
}

/** A message from a thread, checked: undefined when it has not one of the forms above or is over a size cap. */
export function parseFromThread(message: unknown): FromThread | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const m = message as Record<string, unknown>;
  if (m['type'] === 'ready') return isText(m['imageVersion'], 64) ? (m as FromThread) : undefined;
  if (m['type'] === 'refused') return isText(m['reason'], 4_096) ? (m as FromThread) : undefined;
  return isCount(m['cell']) && isCellMessage(m) ? (m as FromThread) : undefined;
}

function isCellMessage(m: Record<string, unknown>): boolean {
  switch (m['type']) {
    case 'output':
      return isCount(m['batch']) && isListOf(m['items'], isItem, limits.outputItems);
    case 'boundary':
      return isCount(m['items']);
    case 'timer':
      return isCount(m['id']) && isAmount(m['delayMs']);
    case 'untimer':
      return isCount(m['id']);
    case 'call':
      return isCount(m['callId']) && isText(m['identifier'], 1_024) && isText(m['argumentsJson'], limits.argumentBytes);
    case 'note':
      return isText(m['text'], limits.noteBytes);
    case 'waiting':
      return isAmount(m['cpuMs']);
    case 'image':
      return isChanges(m['changes']) && isScriptState(m['state']);
    case 'reached':
      return isScriptEnd(m['end']);
    case 'ended':
      return isScriptEnd(m['end']) && isAmount(m['cpuMs']) && (m['retire'] === null || isText(m['retire'], 4_096));
    default:
      return false;
  }
}

/** Whether a value is how a script ended, within the size caps. */
function isScriptEnd(value: unknown): value is ScriptEnd {
  if (typeof value !== 'object' || value === null) return false;
  const end = value as Record<string, unknown>;
  if (end['kind'] === 'stopped') return true;
  if (!areWrites(end['writes']) || !areWarnings(end['warnings'])) return false;
  if (end['kind'] === 'completed') return true;
  return (
    end['kind'] === 'failed' &&
    CODES.has(end['code']) &&
    isText(end['message'], limits.errorBytes) &&
    isText(end['frames'], limits.errorBytes)
  );
}
