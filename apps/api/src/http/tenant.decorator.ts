import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** A request whose key has been checked. */
export interface TenantRequest extends FastifyRequest {
  /** Empty before the key was checked, and on routes of the operator. */
  tenantId: string;
}

/** The authenticated tenant's id. */
export const Tenant = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { tenantId } = context.switchToHttp().getRequest<TenantRequest>();
  if (tenantId === '') throw new Error('this route is not authenticated by a tenant key');
  return tenantId;
});
