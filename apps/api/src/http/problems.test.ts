import * as core from '#libs/core';
import { problemSchema } from '#libs/contracts';
import { describe, expect, it } from 'vitest';
import { problemKinds, toProblem } from './problems.js';

/** The codes and statuses of the specification (4. API, Error codes), and one that no client can see. */
const SPECIFIED = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  tenant_suspended: 403,
  not_found: 404,
  cell_not_found: 404,
  observer_busy: 409,
  tool_result_conflict: 409,
  tool_name_collision: 409,
  turn_running: 409,
  conflict: 409,
  call_closed: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  member_required: 422,
  idempotency_mismatch: 422,
  invalid_pragma: 422,
  client_gone: 499,
  quota_exceeded: 429,
  internal: 500,
  unavailable: 503,
};

type ErrorClass = new (text: string) => core.CellarError;

/** One error of each class of the core. */
function everyError(): core.CellarError[] {
  return (Object.values(core) as unknown[])
    .filter((value) => typeof value === 'function' && value.prototype instanceof core.CellarError)
    .map((value) => new (value as ErrorClass)('Some text.'));
}

describe('toProblem', () => {
  it('has the status of the specification for every code', () => {
    const statuses = Object.entries(problemKinds).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(statuses)).toEqual(SPECIFIED);
  });

  it('knows the code of every error of the core', () => {
    expect(everyError().length).toBeGreaterThan(10);
    for (const error of everyError()) expect(Object.keys(problemKinds)).toContain(error.code);
  });

  it('makes a document that its schema accepts', () => {
    for (const error of everyError()) {
      const { problem } = toProblem(error, 'id-1');
      expect(problemSchema.parse(problem)).toEqual(problem);
      expect(problem.type.endsWith(error.code)).toBe(true);
    }
  });

  it('tells the faults of a body', () => {
    const faults = [{ pointer: '/kind', detail: 'is missing' }];
    const { problem } = toProblem(new core.InvalidRequestError('No kind.', faults), 'id-1');
    expect(problem).toMatchObject({ status: 400, detail: 'No kind.', errors: faults });
    expect(toProblem(new core.InvalidRequestError('Not JSON.'), 'id-1').problem).not.toHaveProperty('errors');
  });

  it('tells nothing of a fault of ours but the correlation id', () => {
    const error = core.toCellarError(new Error('password of 10.0.0.7'));
    const { problem } = toProblem(error, 'id-1');
    expect(problem.status).toBe(500);
    expect(problem.detail).toContain('id-1');
    expect(JSON.stringify(problem)).not.toContain('10.0.0.7');
  });

  it('hides an error whose code is unknown', () => {
    class StrangeError extends core.CellarError {
      readonly code = 'constructor';
    }
    expect(toProblem(new StrangeError('inner workings'), 'id-1').problem).toMatchObject({
      status: 500,
      code: 'internal',
    });
  });

  it('says when to come back', () => {
    const { headers } = toProblem(new core.UnavailableError('Redis', { retryAfterSeconds: 7 }), 'id-1');
    expect(headers).toEqual({ 'retry-after': '7' });
    class QuotaError extends core.CellarError {
      readonly code = 'quota_exceeded';
    }
    const quota = new QuotaError('Too many.', { details: { retryAfterSeconds: 1.2 } });
    expect(toProblem(quota, 'id-1').headers).toEqual({ 'retry-after': '2' });
    expect(toProblem(new QuotaError('Too many.'), 'id-1').headers).toHaveProperty('retry-after');
  });

  it('says how to authenticate', () => {
    expect(toProblem(new core.UnauthorizedError('No key.'), 'id-1').headers).toEqual({ 'www-authenticate': 'Bearer' });
  });
});
