import {
  type PostKey,
  type PostTenant,
  keySchema,
  postKeySchema,
  postTenantSchema,
  tenantSchema,
} from '#libs/contracts';
import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Operation } from '../http/operation.js';
import { AdminService } from './admin.service.js';

/** Looser than the ids that are made, so that a mistyped one is just one that is not there. */
const tenantIdSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

@ApiTags('admin')
@Controller('admin/tenants')
export class AdminController {
  constructor(private readonly admin: AdminService) {}

  @Post()
  @Operation({
    id: 'createTenant',
    summary: 'Create a tenant: a chat platform',
    status: 201,
    answer: tenantSchema,
    answerDescription: 'The new tenant.',
    security: 'adminKey',
    problems: ['payload_too_large', 'unsupported_media_type'],
  })
  createTenant(@Body({ schema: postTenantSchema }) body: PostTenant): Promise<{ tenantId: string }> {
    return this.admin.createTenant(body);
  }

  @Post(':t/keys')
  @Operation({
    id: 'createKey',
    summary: 'Create a key of a tenant',
    status: 201,
    answer: keySchema,
    answerDescription: 'The key, which is shown this once.',
    security: 'adminKey',
    problems: ['not_found', 'payload_too_large', 'unsupported_media_type'],
  })
  createKey(
    @Param('t', { schema: tenantIdSchema }) tenantId: string,
    @Body({ schema: postKeySchema }) body: PostKey,
  ): Promise<{ keyId: string; key: string }> {
    return this.admin.createKey(tenantId, body);
  }
}
