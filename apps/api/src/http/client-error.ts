import { InvalidRequestError } from '#libs/core';
import type { Socket } from 'node:net';
import { randomBase32 } from '#libs/core';
import { toProblem } from './problems.js';
import { PROBLEM_TYPE } from './send-problem.js';

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large: at most 16 KiB in all.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request was not sent in full within 60 s.',
};

/** Answers what is no HTTP request, or not a whole one; there is no route and no reply for it, only a socket. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const detail = DETAILS[error.code ?? ''] ?? 'What was sent is not a valid HTTP/1.1 request.';
  const { problem } = toProblem(new InvalidRequestError(detail), randomBase32(16));
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}
