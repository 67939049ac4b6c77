import { type GetArtifactQuery, conversationIdSchema, getArtifactQuerySchema } from '#libs/contracts';
import { Controller, Get, Header, Param, Query, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../http/operation.js';
import { Tenant } from '../http/tenant.decorator.js';
import { ArtifactsService } from './artifacts.service.js';

/** Files that cells leave behind. */
@ApiTags('cells')
@Controller('v1/conversations/:c/artifacts/:a')
export class ArtifactsController {
  constructor(private readonly artifacts: ArtifactsService) {}

  @Get()
  @Header('cache-control', 'private, max-age=86400, immutable')
  @Header('x-content-type-options', 'nosniff')
  // What a script made must not run as a page of this origin.
  @Header('content-security-policy', "default-src 'none'; sandbox")
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
  ): Promise<StreamableFile> {
    const { mimeType, bytes } = await this.artifacts.read({ tenantId, conversationId }, artifactId, query.memberId);
    return new StreamableFile(bytes, { type: mimeType, length: bytes.length, disposition: 'inline' });
  }
}
