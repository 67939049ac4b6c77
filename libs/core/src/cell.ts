/** Which of the two script dialects a cell speaks. */
export type Dialect = 'exec' | 'codemode';

/** The states of a cell, as kept in Postgres. */
export const CELL_STATES = ['queued', 'running', 'completed', 'failed', 'terminated'] as const;
export type CellState = (typeof CELL_STATES)[number];

/** The states that a cell never leaves. */
export type TerminalState = 'completed' | 'failed' | 'terminated';

/** Why a script failed: `error.code` of a result with `state: "failed"`. */
export const CELL_ERROR_CODES = [
  'script_error',
  'syntax_error',
  'out_of_memory',
  'cpu_limit',
  'deadline',
  'wall_limit',
  'values_limit',
  'stalled',
  'no_worker',
  'worker_lost',
  'worker_draining',
  'image_version_gone',
  'output_limit',
  'internal',
] as const;
export type CellErrorCode = (typeof CELL_ERROR_CODES)[number];

/** What can happen to a cell. Every change of state in the database is one of these. */
export type CellEvent = { kind: 'claimed' } | { kind: 'ended'; state: TerminalState } | { kind: 'stopped' };

/**
 * The one transition function: the state after an event, or undefined when the event changes nothing
 * (the cell has ended, or is already running). The SQL of libs/persistence carries the same conditions.
 */
export function nextState(state: CellState, event: CellEvent): CellState | undefined {
  switch (event.kind) {
    case 'claimed':
      return state === 'queued' ? 'running' : undefined;
    case 'ended':
      return isTerminal(state) ? undefined : event.state;
    case 'stopped':
      return isTerminal(state) ? undefined : 'terminated';
  }
}

/** Whether a state is final. */
export function isTerminal(state: CellState): state is TerminalState {
  return state === 'completed' || state === 'failed' || state === 'terminated';
}

/**
 * Whether the values that a script wrote are kept at its end. exec: on success and on an ordinary failure of the
 * script; codemode: on success only.
 */
export function keepsValues(dialect: Dialect, state: TerminalState, code?: CellErrorCode): boolean {
  if (state === 'completed') return true;
  if (state !== 'failed' || dialect === 'codemode') return false;
  return code === 'script_error' || code === 'stalled' || code === 'output_limit';
}

/** One item of a cell's output, in the order of the script's calls. Numbered from 0 within the cell. */
export type OutputItem =
  /** From `text()` or a top-level `return`. */
  | { kind: 'text'; text: string }
  /** One line of `console.*`. */
  | { kind: 'console'; text: string }
  | MediaItem;

/** A file from `image()` or `audio()`. */
export interface MediaItem {
  kind: 'image' | 'audio';
  /** Base64 without whitespace; its characters count to the output limit. */
  data: string;
  /** As the file's bytes say. */
  mimeType: string;
  /** Images, as the sandbox gives them: tells different ones of a cell apart. */
  hash?: string;
  /** Images, as the worker keeps them: the artifact that the file is kept as. */
  artifactId?: string;
}

/** A failure as it is kept and shown. */
export interface CellFailure {
  code: CellErrorCode;
  /** `{name}: {message}` of an error, or the thrown value as text; at most 16 KiB. */
  message: string;
  /** Frames of the script only, one per line, with the model's own line numbers. */
  frames?: string;
}

/** Something that the caller should know although it did not fail the cell. */
export interface CellWarning {
  code: string;
  message: string;
}

/** One changed key of a writer's values: the JSON of the new value, or null when the key was deleted. */
export interface ValueWrite {
  key: string;
  json: string | null;
}
