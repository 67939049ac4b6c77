import { limits } from '#libs/core';
import { isAmount, isCount, isListOf, isText } from './protocol-checks.js';

/**
 * What the host knows of a waiting script, beside its memory. JSON; whoever keeps an image keeps this apart from it,
 * so that nothing in the image can change a budget or a count (spec: protocols, rule 7).
 */
export interface ScriptState {
  /** CPU time used so far, in ms. */
  cpuMs: number;
  /** Whether the engine has run out of memory before. */
  outOfMemory: boolean;
  /** Items of output so far, and their characters. */
  items: number;
  chars: number;
  /** Notes so far, and their UTF-8 bytes. */
  notes: number;
  notesBytes: number;
  /** Hashes of the different images so far. */
  images: string[];
  /** Number of the last call, how many were made, and those that the script waits for. */
  lastCall: number;
  callsMade: number;
  openCalls: number[];
  /** Timers that have not run. */
  timers: number[];
}

/** Whether a value is the state of a waiting script, within the limits of one cell. */
export function isScriptState(value: unknown): value is ScriptState {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Record<string, unknown>;
  return (
    isAmount(state['cpuMs']) &&
    typeof state['outOfMemory'] === 'boolean' &&
    (['items', 'chars', 'notes', 'notesBytes', 'lastCall', 'callsMade'] as const).every((key) => isCount(state[key])) &&
    isListOf(state['images'], (hash) => isText(hash, 64), limits.imagesPerCell) &&
    isListOf(state['openCalls'], isCount, limits.callsUnderWay) &&
    isListOf(state['timers'], isCount, limits.pendingTimers)
  );
}
