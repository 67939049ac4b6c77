import { type GetArtifactQuery, conversationIdSchema, getArtifactQuerySchema } from '#libs/contracts';
import { Controller, Get, Param, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { Operation } from '../http/operation.js';
import { Tenant } from '../http/tenant.decorator.js';
import { ArtifactsService } from './artifacts.service.js';

/** Set once the file is found: a problem must not be cached. */
const FILE_HEADERS = {
  'cache-control': 'private, max-age=86400, immutable',
  'x-content-type-options': 'nosniff',
  // What a script made must not run as a page of this origin.
  'content-security-policy': "default-src 'none'; sandbox",
};

/** Files that cells leave behind. */
@ApiTags('cells')
@Controller('v1/conversations/:c/artifacts/:a')
export class ArtifactsController {
  constructor(private readonly artifacts: ArtifactsService) {}

  @Get()
  @Operation({
    id: 'getArtifact',
    summary: 'Read a file that a cell left behind: an image, or the full text of a cut result',
    answerDescription: 'The file.',
    files: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain'],
    problems: ['not_found', 'member_required'],
  })
  async get(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    // Any id is taken: a malformed one is one that never existed.
    @Param('a') artifactId: string,
    @Query({ schema: getArtifactQuerySchema }) query: GetArtifactQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const file = await this.artifacts.read({ tenantId, conversationId }, artifactId, query.memberId);
    void reply.headers(FILE_HEADERS);
    const { mimeType: type, size: length } = file;
    return new StreamableFile(Readable.from(file.pieces()), { type, length, disposition: 'inline' });
  }
}
