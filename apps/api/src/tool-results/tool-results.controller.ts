import {
  type PostToolResults,
  type ToolResults,
  conversationIdSchema,
  postToolResultsSchema,
  toolResultsSchema,
} from '#libs/contracts';
import { Body, Controller, HttpCode, HttpStatus, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { callerOf, giveWhenWritten } from '../cells/cell-requests.js';
import { Operation } from '../http/operation.js';
import { Tenant } from '../http/tenant.decorator.js';
import { ToolResultsService } from './tool-results.service.js';

/** Results of the calls that the platform runs. */
@ApiTags('cells')
@Controller('v1/conversations/:c/tool-results')
export class ToolResultsController {
  constructor(private readonly service: ToolResultsService) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @Operation({
    id: 'postToolResults',
    summary: 'Settle tool calls, and observe their cell further',
    answer: toolResultsSchema,
    answerDescription: 'What came of each result, and of the cell if it was observed.',
    problems: [
      'payload_too_large',
      'unsupported_media_type',
      'member_required',
      'not_found',
      'cell_not_found',
      'observer_busy',
      'tool_result_conflict',
      'call_closed',
    ],
  })
  async post(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    @Body({ schema: postToolResultsSchema }) body: PostToolResults,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolResults> {
    const answer = await this.service.post(callerOf(tenantId, conversationId, reply), body);
    if (answer.written) giveWhenWritten(reply, answer.written);
    return answer.body;
  }
}
