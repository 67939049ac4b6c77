import { limits } from '#libs/core';
import { encodeText } from '#libs/script';
import { failureOf } from '../failures.js';
import type { ScriptEnd } from '../protocol.js';
import { areWarnings, areWrites } from '../protocol-checks.js';
import { cutText } from './guest-text.js';
import { EngineAbortError } from './imports.js';

/** Largest end message in bytes: all writes, each character escaped, and an error. */
export const END_MESSAGE_BYTES = 16 * 1024 * 1024;

/** What the prelude says when the script is over. `leaving`: by exit(), so the script is still on the stack. */
export interface EndMessage {
  end: Exclude<ScriptEnd, { kind: 'stopped' }>;
  leaving: boolean;
}

const CODES = ['script_error', 'syntax_error', 'output_limit', 'stalled'] as const;

/**
 * Reads the prelude's end message. `exhausted`: the engine ran out of memory in this cell, so that its own forms of
 * that error mean it. Throws EngineAbortError for anything that the prelude does not write.
 */
export function parseEndMessage(json: string, exhausted: boolean): EndMessage {
  const { failure, writes, leaving, warnings } = JSON.parse(json) as Record<string, unknown>;
  const pairs = Array.isArray(writes) ? (writes as readonly unknown[]) : undefined;
  const list = pairs?.map((pair): unknown =>
    Array.isArray(pair) ? { key: pair[0] as unknown, json: pair[1] as unknown } : pair,
  );
  if (!areWrites(list) || !areWarnings(warnings)) throw new EngineAbortError('an end message without writes');
  if (failure === null) return { end: { kind: 'completed', writes: list, warnings }, leaving: leaving === true };
  return { end: { ...readFailure(failure, exhausted), writes: list, warnings }, leaving: false };
}

type Failure = Extract<ScriptEnd, { kind: 'failed' }>;

function readFailure(failure: unknown, exhausted: boolean): Omit<Failure, 'writes' | 'warnings'> {
  const given = failure as Record<string, unknown>;
  const code = CODES.find((known) => known === given['code']);
  const { message, frames } = given;
  if (code === undefined || typeof message !== 'string' || typeof frames !== 'string') {
    throw new EngineAbortError('an end message with an unreadable failure');
  }
  const outOfMemory = exhausted && given['exhausted'] === true;
  if (outOfMemory) return { kind: 'failed', frames, ...failureOf('memory') };
  if (code === 'stalled') return { kind: 'failed', frames, ...failureOf('stalled') };
  const cutFrames = cutText(frames, limits.errorBytes / 2);
  const cutMessage = cutText(message, limits.errorBytes - encodeText(cutFrames).length);
  return { kind: 'failed', code, message: cutMessage, frames: cutFrames };
}
