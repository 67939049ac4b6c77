import { Module } from '@nestjs/common';
import { ConversationResolver } from './conversation-resolver.js';

/** Apart from the conversations' own module, as cells need conversations and conversations stop cells. */
@Module({ providers: [ConversationResolver], exports: [ConversationResolver] })
export class ConversationLookupModule {}
