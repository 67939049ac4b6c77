import { randomBase32 } from '#libs/core';
import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id that the answer and all log lines of a request carry: the caller's `x-request-id`, if it is sane, or a new one. */
export function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomBase32(16);
}
