import { contextFromHeaders, withSpan } from '#libs/telemetry';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Observable, defer, from, lastValueFrom } from 'rxjs';
import { routeOf } from './route.js';

/** One span per request, which continues the caller's trace and begins that of the cell. Used only when tracing is on. */
export class TracingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const name = `${request.method} ${routeOf(request)}`;
    const attributes = { 'http.request.method': request.method, 'http.route': routeOf(request) };
    const parent = contextFromHeaders(request.headers);
    const handle = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    return defer(() => from(withSpan(name, { kind: 'SERVER', attributes, parent }, handle)));
  }
}
