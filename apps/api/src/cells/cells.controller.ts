import {
  type CellList,
  type CellResult,
  type ListCellsQuery,
  type PostCodemode,
  type PostExec,
  type PostWait,
  cellListSchema,
  cellResultSchema,
  conversationIdSchema,
  listCellsQuerySchema,
  postCodemodeSchema,
  postExecSchema,
  postWaitSchema,
} from '#libs/contracts';
import { Body, Controller, Get, HttpCode, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Operation } from '../http/operation.js';
import { Tenant } from '../http/tenant.decorator.js';
import { CellList as Cells } from './cell-list.js';
import { callerOf, giveWhenWritten } from './cell-requests.js';
import { type Answer, CellsService } from './cells.service.js';

const BODY = ['payload_too_large', 'unsupported_media_type', 'member_required'] as const;
const STARTING = [...BODY, 'not_found', 'invalid_pragma'] as const;
const WAITING = [...BODY, 'cell_not_found', 'observer_busy'] as const;

/** Scripts: start them, wait for them, list them. */
@ApiTags('cells')
@Controller('v1/conversations/:c')
export class CellsController {
  constructor(
    private readonly cells: CellsService,
    private readonly list: Cells,
  ) {}

  @Post('exec')
  @HttpCode(HttpStatus.OK)
  @Operation({
    id: 'exec',
    summary: 'Run a script and observe it for a while',
    answer: cellResultSchema,
    answerDescription: 'What the cell came to, or has written so far.',
    problems: STARTING,
  })
  exec(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    @Body({ schema: postExecSchema }) body: PostExec,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CellResult> {
    return giving(reply, this.cells.exec(callerOf(tenantId, conversationId, reply), body));
  }

  @Post('codemode')
  @HttpCode(HttpStatus.OK)
  @Operation({
    id: 'codemode',
    summary: 'Run a script and observe it to its end',
    answer: cellResultSchema,
    answerDescription: 'What the cell came to.',
    problems: STARTING,
  })
  codemode(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    @Body({ schema: postCodemodeSchema }) body: PostCodemode,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CellResult> {
    return giving(reply, this.cells.codemode(callerOf(tenantId, conversationId, reply), body));
  }

  @Post('wait')
  @HttpCode(HttpStatus.OK)
  @Operation({
    id: 'wait',
    summary: 'Observe a cell further, or stop it',
    answer: cellResultSchema,
    answerDescription: 'What is new since the last answer.',
    problems: WAITING,
  })
  wait(
    @Tenant() tenantId: string,
    // Any id is taken: a cell of a conversation that cannot exist is a cell that does not exist.
    @Param('c') conversationId: string,
    @Body({ schema: postWaitSchema }) body: PostWait,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CellResult> {
    return giving(reply, this.cells.wait(callerOf(tenantId, conversationId, reply), body));
  }

  @Get('cells')
  @Operation({
    id: 'listCells',
    summary: "The writer's cells, newest first; collects nothing",
    answer: cellListSchema,
    answerDescription: 'One page.',
    problems: ['not_found', 'member_required'],
  })
  cellsOf(
    @Tenant() tenantId: string,
    @Param('c', { schema: conversationIdSchema }) conversationId: string,
    @Query({ schema: listCellsQuerySchema }) query: ListCellsQuery,
  ): Promise<CellList> {
    return this.list.page({ tenantId, conversationId }, query);
  }
}

async function giving(reply: FastifyReply, pending: Promise<Answer>): Promise<CellResult> {
  const { result, written } = await pending;
  giveWhenWritten(reply, written);
  return result;
}
