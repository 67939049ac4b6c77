import { type ConversationRef, NotFoundError, isArtifactId } from '#libs/core';
import { type Artifact, Database, readArtifact } from '#libs/persistence';
import { Injectable } from '@nestjs/common';
import { ownerIn } from '../cells/cells.service.js';
import { ConversationResolver } from '../conversations/conversation-resolver.js';

/** Reads files for their owners. */
@Injectable()
export class ArtifactsService {
  constructor(
    private readonly db: Database,
    private readonly conversations: ConversationResolver,
  ) {}

  /** Throws NotFoundError for what this owner does not have, whatever else it may be. */
  async read(ref: ConversationRef, artifactId: string, memberId: string | undefined): Promise<Artifact> {
    const owner = ownerIn(await this.conversations.current(ref.tenantId, ref.conversationId), memberId);
    const found = isArtifactId(artifactId) ? await readArtifact(this.db, owner, artifactId) : undefined;
    if (!found) throw new NotFoundError('There is no such artifact.');
    return found;
  }
}
