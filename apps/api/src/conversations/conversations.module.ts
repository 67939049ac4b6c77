import { Module } from '@nestjs/common';
import { CellsModule } from '../cells/cells.module.js';
import { ToolsetsModule } from '../toolsets/toolsets.module.js';
import { Bindings } from './bindings.js';
import { ConversationLookupModule } from './conversation-lookup.module.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsService } from './conversations.service.js';

/** Conversations and their branches. */
@Module({
  imports: [ConversationLookupModule, ToolsetsModule, CellsModule],
  controllers: [ConversationsController],
  providers: [ConversationsService, Bindings],
})
export class ConversationsModule {}
