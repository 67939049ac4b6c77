import type { Problem } from '#libs/contracts';
import { type CellarError, InvalidRequestError, UnavailableError } from '#libs/core';

/** Every error code of the API with its HTTP status and what kind of problem it is. */
export const problemKinds = {
  invalid_request: { status: 400, title: 'The request cannot be understood' },
  unauthorized: { status: 401, title: 'A valid key is needed' },
  forbidden: { status: 403, title: 'The key does not allow this' },
  tenant_suspended: { status: 403, title: 'The tenant is suspended' },
  not_found: { status: 404, title: 'There is no such thing' },
  cell_not_found: { status: 404, title: 'There is no such cell' },
  observer_busy: { status: 409, title: 'The cell has an observer' },
  tool_result_conflict: { status: 409, title: 'The call has another result' },
  tool_name_collision: { status: 409, title: 'A tool cannot have this name' },
  turn_running: { status: 409, title: 'A turn is running' },
  conflict: { status: 409, title: 'The present state does not allow this' },
  call_closed: { status: 410, title: 'The call is closed' },
  payload_too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  member_required: { status: 422, title: 'A member must be named' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key belongs to another request' },
  invalid_pragma: { status: 422, title: 'The script cannot be started' },
  // Nobody reads this one; it stands in logs and metrics, where it must not look like a fault of Cellar.
  client_gone: { status: 499, title: 'The client went away' },
  quota_exceeded: { status: 429, title: 'A quota is used up' },
  internal: { status: 500, title: 'Something went wrong inside Cellar' },
  unavailable: { status: 503, title: 'Cellar cannot do this right now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemKinds;

/** A client that is told to come back later and not when, in seconds. */
const RETRY_AFTER_SECONDS = 2;

/** An error as HTTP: the document, and headers beside it. */
export interface HttpProblem {
  problem: Problem;
  headers: Record<string, string>;
}

/**
 * The one way from an error to HTTP. A fault of Cellar tells nothing but the correlation id, under which its log line
 * tells all.
 */
export function toProblem(error: CellarError, correlationId: string): HttpProblem {
  const code: ProblemCode = isProblemCode(error.code) ? error.code : 'internal';
  const { status, title } = problemKinds[code];
  const detail =
    code === 'internal'
      ? `Something went wrong inside Cellar. Its log tells more under the correlation id ${correlationId}.`
      : error.message;
  const faults = error instanceof InvalidRequestError && error.faults.length > 0 ? { errors: [...error.faults] } : {};
  return {
    problem: { type: `urn:cellar:problem:${code}`, title, status, code, detail, ...faults, ...error.members },
    headers: headersFor(status, error),
  };
}

function headersFor(status: number, error: CellarError): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status !== 429 && status !== 503) return {};
  const { retryAfterSeconds } = error.details;
  const seconds = error instanceof UnavailableError ? error.retryAfterSeconds : retryAfterSeconds;
  return { 'retry-after': String(typeof seconds === 'number' ? Math.ceil(seconds) : RETRY_AFTER_SECONDS) };
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemKinds, code);
}
