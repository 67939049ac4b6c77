import type { CellarError } from '#libs/core';
import type { FastifyReply } from 'fastify';
import { type HttpProblem, toProblem } from './problems.js';

/** The media type of RFC 9457. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Answers with a problem document, unless the answer is on its way already. */
export function sendProblem(reply: FastifyReply, error: CellarError): HttpProblem {
  const made = toProblem(error, reply.request.id);
  if (!reply.sent && !reply.raw.headersSent) {
    const { problem, headers } = made;
    void reply.code(problem.status).headers(headers).type(PROBLEM_TYPE).send(JSON.stringify(problem));
  }
  return made;
}
