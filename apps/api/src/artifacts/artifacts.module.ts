import { Module } from '@nestjs/common';
import { ConversationLookupModule } from '../conversations/conversation-lookup.module.js';
import { ArtifactsController } from './artifacts.controller.js';
import { ArtifactsService } from './artifacts.service.js';

/** Files that cells leave behind. */
@Module({ imports: [ConversationLookupModule], controllers: [ArtifactsController], providers: [ArtifactsService] })
export class ArtifactsModule {}
