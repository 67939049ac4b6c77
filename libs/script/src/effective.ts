import type { ConversationSettings } from '#libs/core';
import type { CodemodeOptions, ExecOptions } from './first-line.js';

/** The server's maxima; more is lowered to them without an error. */
export interface Maxima {
  /** Longest observation, in ms. */
  yieldTimeMs: number;
  /** Largest output budget, in estimated tokens. */
  outputTokens: number;
}

/** The values in force, by the names that the model knows: `effective` of a result. */
export interface Effective {
  yield_time_ms?: number;
  max_output_tokens?: number;
  max_tokens?: number;
  timeout_ms?: number;
}

/** How one request observes a cell. */
export interface Observation {
  /** Longest observation, in ms. */
  yieldTimeMs: number;
  /** Output budget of the answer, in estimated tokens. */
  maxTokens: number;
  effective: Effective;
}

/** An `exec` or `codemode` request: how it observes, and the cell's deadline. */
export interface StartObservation extends Observation {
  /** The cell's deadline, in ms from the arrival of the request; undefined: none. */
  timeoutMs: number | undefined;
}

/** What an `exec` script runs under: its first line, else the settings, lowered to the maxima. */
export function effectiveExec(
  options: ExecOptions,
  settings: Pick<ConversationSettings, 'defaultExecYieldMs' | 'maxOutputTokens'>,
  maxima: Maxima,
): StartObservation {
  const yieldTimeMs = Math.min(options.yieldTimeMs ?? settings.defaultExecYieldMs, maxima.yieldTimeMs);
  const maxTokens = Math.min(options.maxOutputTokens ?? settings.maxOutputTokens, maxima.outputTokens);
  const effective = { yield_time_ms: yieldTimeMs, max_output_tokens: maxTokens };
  return { yieldTimeMs, maxTokens, timeoutMs: undefined, effective };
}

/** What a `codemode` script runs under. It is observed to its end, or for as long as one request may observe. */
export function effectiveCodemode(
  options: CodemodeOptions,
  settings: Pick<ConversationSettings, 'maxOutputTokens'>,
  maxima: Maxima,
): StartObservation {
  const maxTokens = Math.min(options.maxOutputTokens ?? settings.maxOutputTokens, maxima.outputTokens);
  const { timeoutMs } = options;
  const effective: Effective = { max_output_tokens: maxTokens };
  if (timeoutMs !== undefined) effective.timeout_ms = timeoutMs;
  return { yieldTimeMs: maxima.yieldTimeMs, maxTokens, timeoutMs, effective };
}

/** What a `wait` runs under: its arguments, else the given defaults, lowered to the maxima. */
export function effectiveWait(
  args: { yieldTimeMs?: number | null | undefined; maxTokens?: number | null | undefined },
  defaults: { yieldTimeMs: number; maxTokens: number },
  maxima: Maxima,
): Observation {
  const yieldTimeMs = Math.min(args.yieldTimeMs ?? defaults.yieldTimeMs, maxima.yieldTimeMs);
  const maxTokens = Math.min(args.maxTokens ?? defaults.maxTokens, maxima.outputTokens);
  return { yieldTimeMs, maxTokens, effective: { yield_time_ms: yieldTimeMs, max_tokens: maxTokens } };
}
