/** Bounded facts that go with an error: shown to users in problem documents, so nothing secret belongs here. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface CellarErrorOptions {
  /** Whether the same request may succeed later without being changed. */
  retryable?: boolean;
  details?: ErrorDetails;
  cause?: unknown;
}

/**
 * The base of every error that Cellar raises on purpose. `code` is one of the codes of the API
 * (docs/errors.md) and never changes its meaning; `message` is written for the person who sent the request:
 * what was wrong, with the value, and what to do.
 */
export abstract class CellarError extends Error {
  abstract readonly code: string;
  readonly retryable: boolean;
  readonly details: ErrorDetails;
  /** What the problem document holds beside its own members: what the request had reached before it failed. */
  members: Readonly<Record<string, unknown>> = {};

  constructor(message: string, options: CellarErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }
}

/** One fault in a request's body: an RFC 6901 pointer to the value and what is wrong with it. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** 400: the request cannot be understood. `faults` point at the values. */
export class InvalidRequestError extends CellarError {
  readonly code = 'invalid_request';
  readonly faults: readonly Fault[];

  constructor(message: string, faults: readonly Fault[] = [], options: CellarErrorOptions = {}) {
    super(message, options);
    this.faults = faults;
  }
}

/** 401: no key, an unknown one, or one that is over. */
export class UnauthorizedError extends CellarError {
  readonly code = 'unauthorized';
}

/** 403: the tenant is suspended by the operator. */
export class TenantSuspendedError extends CellarError {
  readonly code = 'tenant_suspended';
}

/** 404: there is no such thing for this owner. */
export class NotFoundError extends CellarError {
  readonly code = 'not_found';
}

/**
 * 404: there is no such cell for this owner: foreign, stale, collected and never existing cells all look the
 * same. The message says what to do next, so that a model does not poll for ever.
 */
export class CellNotFoundError extends CellarError {
  readonly code = 'cell_not_found';

  constructor() {
    super(
      'There is no cell with this id here: it was never started, its result has been collected, or it was stopped. ' +
        'Do not wait for it again; start a new exec if the work is still needed.',
    );
  }
}

/** 409: another request is observing the cell. */
export class ObserverBusyError extends CellarError {
  readonly code = 'observer_busy';

  constructor(cellId: string) {
    super(`exec cell ${cellId} already has an active observer`, { retryable: true });
  }
}

/** 409: the thing exists already, or is in a state that forbids this. */
export class ConflictError extends CellarError {
  readonly code = 'conflict';
}

/** 409: two tools of one view would have the same identifier in scripts. */
export class ToolNameCollisionError extends CellarError {
  readonly code = 'tool_name_collision';
}

/** 409: the call was settled with another result. */
export class ToolResultConflictError extends CellarError {
  readonly code = 'tool_result_conflict';

  constructor(callId: string) {
    super(`Call ${callId} was settled with another result, which stands. Post a result once, and repeat it unchanged.`);
  }
}

/** 410: the call is over without a result of its owner: its cell has ended, or its time was up. */
export class CallClosedError extends CellarError {
  readonly code = 'call_closed';

  constructor(callId: string) {
    super(`Call ${callId} is closed: its cell has ended, or its time was up. Its result is of no use any more.`);
  }
}

/** 413: a body, a source or a value is larger than its limit. */
export class PayloadTooLargeError extends CellarError {
  readonly code = 'payload_too_large';
}

/** 415: the body is not JSON. */
export class UnsupportedMediaTypeError extends CellarError {
  readonly code = 'unsupported_media_type';
}

/** 422: the conversation is a room, and the request does not say which member it is for. */
export class MemberRequiredError extends CellarError {
  readonly code = 'member_required';

  constructor(conversationId: string) {
    super(`Conversation ${conversationId} is a room: name the member this request is for in memberId.`);
  }
}

/** 422: the first line of a script is unusable, or there is no script. No cell was started. */
export class InvalidPragmaError extends CellarError {
  readonly code = 'invalid_pragma';
}

/** 503: Redis or Postgres cannot be reached just now. Nothing was accepted. */
export class UnavailableError extends CellarError {
  readonly code = 'unavailable';
  /** Seconds after which a client may try again (`Retry-After`). */
  readonly retryAfterSeconds: number;

  constructor(what: string, options: CellarErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(`${what} cannot be reached right now; nothing was accepted. Try again.`, { ...options, retryable: true });
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}

/** The client went away before its answer was ready: there is nobody to tell, and nothing was collected. */
export class ClientGoneError extends CellarError {
  readonly code = 'client_gone';

  constructor() {
    super('The client closed the connection.');
  }
}

/** 500: a fault of Cellar. The answer tells nothing; the log tells all, under the same correlation id. */
export class InternalError extends CellarError {
  readonly code = 'internal';
}

/** Turns whatever was thrown into one of our errors. The only place where an `unknown` becomes one. */
export function toCellarError(thrown: unknown): CellarError {
  if (thrown instanceof CellarError) return thrown;
  return new InternalError('Something went wrong inside Cellar.', { cause: thrown });
}
