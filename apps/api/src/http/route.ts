import type { FastifyRequest } from 'fastify';

/** The pattern of the route that a request matched, never its path; `none` when it matched nothing. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'none';
}
