import {
  type Branch,
  type Conversation,
  type PostBranch,
  type PutConversation,
  branchSchema,
  conversationIdSchema,
  conversationSchema,
  postBranchSchema,
  putConversationSchema,
} from '#libs/contracts';
import { Body, Controller, Get, Param, Post, Put } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Operation } from '../http/operation.js';
import { NamePipe } from '../http/schema.pipe.js';
import { Tenant } from '../http/tenant.decorator.js';
import { ConversationsService } from './conversations.service.js';

@ApiTags('conversations')
@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Put(':c')
  @Operation({
    id: 'putConversation',
    summary: 'Create or configure a conversation; what is left out keeps its value, another model starts a new epoch',
    answer: conversationSchema,
    answerDescription: 'The conversation as it is now.',
    problems: ['conflict', 'tool_name_collision', 'payload_too_large', 'unsupported_media_type'],
  })
  @ApiParam({ name: 'c', schema: { allOf: [{ $ref: '#/components/schemas/ConversationId' }] } })
  put(
    @Tenant() tenantId: string,
    @Param('c', new NamePipe(conversationIdSchema)) conversationId: string,
    @Body({ schema: putConversationSchema }) body: PutConversation,
  ): Promise<Conversation> {
    return this.conversations.put({ tenantId, conversationId }, body);
  }

  @Get(':c')
  @Operation({
    id: 'getConversation',
    summary: 'Read a conversation',
    answer: conversationSchema,
    answerDescription: 'The conversation as it is now.',
    problems: ['not_found'],
  })
  get(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
  ): Promise<Conversation> {
    return this.conversations.get({ tenantId, conversationId });
  }

  @Post(':c/branches')
  @Operation({
    id: 'forkBranch',
    summary: 'Fork a branch, from main as it is now unless another point is named',
    status: 201,
    answer: branchSchema,
    answerDescription: 'The new branch and its point in its parent.',
    problems: ['not_found', 'conflict', 'payload_too_large', 'unsupported_media_type'],
  })
  fork(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    @Body({ schema: postBranchSchema }) body: PostBranch,
  ): Promise<Branch> {
    return this.conversations.fork({ tenantId, conversationId }, body);
  }
}
