import {
  type CellarError,
  InvalidRequestError,
  NotFoundError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
  limits,
  toCellarError,
} from '#libs/core';
import { HttpException } from '@nestjs/common';

/** What Nest and Fastify refuse by themselves as our errors; everything else goes through `toCellarError`. */
export function fromFramework(thrown: unknown, request: { method: string; url: string }): CellarError {
  const cause = thrown instanceof HttpException ? thrown.cause : thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusOf(thrown);
  switch (status) {
    case 404:
      return new NotFoundError(`There is no route ${request.method} ${pathOf(request.url)}. See /docs.`);
    case 413:
      return new PayloadTooLargeError(`The body is larger than ${limits.bodyBytes} bytes.`, { cause });
    case 415:
      return new UnsupportedMediaTypeError('Send the body as JSON, with the header "content-type: application/json".', {
        cause,
      });
    case 414:
      return new InvalidRequestError('A part of the path is too long.', [], { cause });
    default:
      if (status !== undefined && status < 500) return new InvalidRequestError(reason(cause), [], { cause });
      return toCellarError(thrown);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The path of the request is not valid: a % must be followed by two hex digits of valid UTF-8.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body does not have the length that the header content-length names.',
};

function reason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? 'The request cannot be understood.';
}

/** Errors of Fastify carry the status they stand for; ours, and those of libraries, do not speak HTTP. */
function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || thrown.name !== 'FastifyError' || !('statusCode' in thrown)) return undefined;
  return typeof thrown.statusCode === 'number' ? thrown.statusCode : undefined;
}

const SHOWN_CHARS = 200;

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '';
  return path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}...` : path;
}
