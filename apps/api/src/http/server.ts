import { limits, UnauthorizedError, NotFoundError, UnavailableError, toCellarError } from '#libs/core';
import { type Events, withCorrelation } from '#libs/telemetry';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKeys } from './api-keys.js';
import { checkAdminKey } from './admin-key.js';
import { answerClientError } from './client-error.js';
import { correlationIdOf } from './correlation-id.js';
import type { Draining } from './draining.js';
import { fromFramework } from './framework-errors.js';
import { readJsonBody } from './json-body.js';
import type { OpsRequests } from './ops-requests.js';
import { routeOf } from './route.js';
import { sendProblem } from './send-problem.js';
import type { TenantRequest } from './tenant.decorator.js';

/** A client has this long to send a request in full, in ms. Observations are not limited by it: they are answers. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle time of usual proxies, so that it is they who close. */
const KEEP_ALIVE_MS = 75_000;
/** Longer than any name, so that it is the schemas that refuse. */
const MAX_PARAM_CHARS = 4_096;

/** Fastify under Nest. Bodies are JSON only. */
export function createAdapter(): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: limits.bodyBytes,
    trustProxy: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    genReqId: correlationIdOf,
    requestIdHeader: false,
    // A draining process answers what comes by itself: see below.
    return503OnClosing: false,
    skipMiddie: true,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      void reply.header('x-request-id', request.id);
      sendProblem(reply, fromFramework(error, request));
    },
    clientErrorHandler: answerClientError,
  });
  const server: FastifyInstance = adapter.getInstance();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, readJsonBody(body as Buffer, request.headers['content-encoding']));
    } catch (error) {
      done(toCellarError(error));
    }
  });
  return adapter;
}

/** What every request passes before it reaches its route. */
export interface Gate {
  apiKeys: ApiKeys;
  adminKey: string;
  draining: Draining;
  ops: OpsRequests;
  events: Events;
}

/**
 * Adds what is done for every request: its correlation id, whether there is such a route on this port, whether this
 * process still takes work, and whose request it is. All of it before the body is read, so that a stranger cannot make
 * the API read megabytes.
 */
export function addHooks(server: FastifyInstance, gate: Gate): void {
  server.decorateRequest('tenantId', '');
  server.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    withCorrelation(request.id, done);
  });
  server.addHook('onRequest', async (request) => admit(request, gate));
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (gate.draining.begun) void reply.header('connection', 'close');
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const durationMs = reply.elapsedTime;
    gate.events.requestEnded({ method, route: routeOf(request), status: reply.statusCode, durationMs });
    done();
  });
}

async function admit(request: FastifyRequest, { apiKeys, adminKey, draining, ops }: Gate): Promise<void> {
  const route = routeOf(request);
  if (request.is404) return;
  if (!ops.serves(route, request.raw)) throw new NotFoundError(`There is no route ${request.method} ${route} here.`);
  const { authorization } = request.headers;
  if (isUnder(route, '/v1')) {
    if (draining.begun)
      throw new UnavailableError('This API process, which is being stopped,', { retryAfterSeconds: 1 });
    (request as TenantRequest).tenantId = await apiKeys.tenantOf(authorization);
  } else if (isUnder(route, '/admin')) {
    checkAdminKey(authorization, adminKey);
  } else if (!OPEN_ROUTES.some((open) => isUnder(route, open))) {
    throw new UnauthorizedError('This route is not open to anybody.');
  }
}

/** Routes that need no key. A route that is under none of the known prefixes is closed. */
const OPEN_ROUTES = ['/health', '/metrics', '/openapi.json', '/docs'];

function isUnder(route: string, prefix: string): boolean {
  return route === prefix || route.startsWith(`${prefix}/`);
}
