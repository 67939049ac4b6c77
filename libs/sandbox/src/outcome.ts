import type { CellWarning } from '#libs/core';
import { failureOf, type StopCause } from './failures.js';
import type { CellLimits, CellOutcome } from './port.js';
import type { ScriptEnd } from './protocol.js';

/** How a cell ended: by its script (`end`), or for the cause that stopped it. */
export function outcomeOf(
  end: ScriptEnd,
  cause: StopCause | undefined,
  limits: CellLimits,
  used: Pick<CellOutcome, 'cpuMs' | 'openCalls'>,
): CellOutcome {
  const warnings = end.kind === 'stopped' ? [] : end.warnings.map(toWarning);
  if (end.kind === 'completed') return { state: 'completed', writes: end.writes, warnings, ...used };
  if (end.kind === 'failed') {
    const { code, message, frames } = end;
    const failure = { code, message, ...(frames === '' ? {} : { frames }) };
    return { state: 'failed', failure, writes: end.writes, warnings, ...used };
  }
  if (cause === 'terminated') return { state: 'terminated', writes: [], warnings, ...used };
  return { state: 'failed', failure: failureOf(cause ?? 'internal', limits), writes: [], warnings, ...used };
}

function toWarning(reason: string): CellWarning {
  return { code: 'unhandled_rejection', message: `unhandled promise rejection: ${reason}` };
}
