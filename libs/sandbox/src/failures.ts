import type { CellFailure } from '#libs/core';
import type { CellLimits } from './port.js';

/** Why a cell was ended by its limits or by the sandbox, not by its own code. */
export type StopCause =
  | 'cpu'
  | 'stretch'
  | 'deadline'
  | 'wall'
  | 'terminated'
  | 'worker_draining'
  | 'memory'
  | 'stalled'
  | 'image'
  | 'internal';

const whole = (ms: number): string => `${Math.round(ms)} ms`;

/** The failure of a cause: names the limit and says what to do. Not for `terminated`, which is no failure. */
export function failureOf(cause: Exclude<StopCause, 'terminated'>, limits: Partial<CellLimits> = {}): CellFailure {
  switch (cause) {
    case 'cpu':
      return {
        code: 'cpu_limit',
        message: `The script used more than its ${whole(limits.cpuMs ?? 0)} of CPU time. Do less work in one script, or split it over several.`,
      };
    case 'stretch':
      return {
        code: 'cpu_limit',
        message: `The script ran for more than ${whole(limits.stretchCpuMs ?? 0)} of CPU time without waiting. Look for an endless loop or a costly pattern, or split the work.`,
      };
    case 'deadline':
      return {
        code: 'deadline',
        message: `The script did not end before its timeout_ms (${whole(limits.deadlineInMs ?? 0)} of it were left when the script started). Do less in one script, or raise timeout_ms.`,
      };
    case 'wall':
      return {
        code: 'wall_limit',
        message: `The script did not end before the wall limit (${whole(limits.wallInMs ?? 0)} of it were left when the script started). Split the work over several scripts.`,
      };
    case 'worker_draining':
      return {
        code: 'worker_draining',
        message:
          'The worker is being shut down and its grace time is over. Start the script again; what it has already done is not undone.',
      };
    case 'memory':
      return {
        code: 'out_of_memory',
        message: 'InternalError: out of memory. The script needed more than its 256 MiB; keep less at a time.',
      };
    case 'stalled':
      return {
        code: 'stalled',
        message:
          'The script can never go on: it awaits a promise that nothing will settle, with no timer and no call pending.',
      };
    case 'image':
      return {
        code: 'internal',
        message:
          'The memory of this waiting script is damaged, so it cannot go on. Start it again; what it has already done is not undone.',
      };
    case 'internal':
      return {
        code: 'internal',
        message: 'The sandbox failed while it ran this script. Try it again; if it fails again, change what it does.',
      };
  }
}
