import {
  type PutToolset,
  type ToolsetVersion,
  putToolsetSchema,
  toolsetListSchema,
  toolsetNameSchema,
  toolsetSchema,
  toolsetVersionSchema,
} from '#libs/contracts';
import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Operation } from '../http/operation.js';
import { NamePipe } from '../http/schema.pipe.js';
import { Tenant } from '../http/tenant.decorator.js';
import { type StoredToolset, ToolsetsService } from './toolsets.service.js';

@ApiTags('toolsets')
@Controller('v1/toolsets')
export class ToolsetsController {
  constructor(private readonly toolsets: ToolsetsService) {}

  @Put(':name')
  @Operation({
    id: 'putToolset',
    summary: 'Register tools: each PUT makes a new immutable version, which conversations get when they bind it anew',
    answer: toolsetVersionSchema,
    answerDescription: 'The new version, and the name of each tool in scripts.',
    problems: ['tool_name_collision', 'payload_too_large', 'unsupported_media_type'],
  })
  @ApiParam({ name: 'name', schema: { allOf: [{ $ref: '#/components/schemas/ToolsetName' }] } })
  put(
    @Tenant() tenantId: string,
    @Param('name', new NamePipe(toolsetNameSchema)) name: string,
    @Body({ schema: putToolsetSchema }) body: PutToolset,
  ): Promise<ToolsetVersion> {
    return this.toolsets.put(tenantId, name, body);
  }

  @Get()
  @Operation({
    id: 'listToolsets',
    summary: "List the tenant's toolsets",
    answer: toolsetListSchema,
    answerDescription: 'Names and newest versions, by name.',
  })
  async list(@Tenant() tenantId: string): Promise<{ toolsets: { name: string; version: number }[] }> {
    return { toolsets: await this.toolsets.list(tenantId) };
  }

  @Get(':name')
  @Operation({
    id: 'getToolset',
    summary: 'Read the newest version of a toolset',
    answer: toolsetSchema,
    answerDescription: 'As it was put, without the headers of deliveries, which cannot be read.',
    problems: ['not_found'],
  })
  get(@Tenant() tenantId: string, @Param('name', { schema: toolsetNameSchema }) name: string): Promise<StoredToolset> {
    return this.toolsets.get(tenantId, name);
  }

  @Delete(':name')
  @HttpCode(204)
  @Operation({
    id: 'deleteToolset',
    summary: 'Delete a toolset; conversations that have bound it keep their version',
    status: 204,
    answerDescription: 'Deleted.',
    problems: ['not_found'],
  })
  async delete(@Tenant() tenantId: string, @Param('name', { schema: toolsetNameSchema }) name: string): Promise<void> {
    await this.toolsets.delete(tenantId, name);
  }
}
