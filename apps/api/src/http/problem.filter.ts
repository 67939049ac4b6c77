import type { Events } from '#libs/telemetry';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fromFramework } from './framework-errors.js';
import { routeOf } from './route.js';
import { sendProblem } from './send-problem.js';

/** Whatever a request ends with that is not an answer leaves as a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly events: Events) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = fromFramework(thrown, request);
    const { problem } = sendProblem(http.getResponse<FastifyReply>(), error);
    const { status, code } = problem;
    // The cause is what the log needs: what our error says is told to the client as well.
    const err = status >= 500 ? (error.cause ?? error) : error;
    this.events.requestFailed({ method: request.method, route: routeOf(request), status, code, err });
  }
}
