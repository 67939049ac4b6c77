import { Module } from '@nestjs/common';
import { CellsModule } from '../cells/cells.module.js';
import { ConversationLookupModule } from '../conversations/conversation-lookup.module.js';
import { ToolResultsController } from './tool-results.controller.js';
import { ToolResultsService } from './tool-results.service.js';

/** Results of tool calls. */
@Module({
  imports: [CellsModule, ConversationLookupModule],
  controllers: [ToolResultsController],
  providers: [ToolResultsService],
})
export class ToolResultsModule {}
