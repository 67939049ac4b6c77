import type { PostToolResults, PostedResult, ToolResults } from '#libs/contracts';
import {
  CallClosedError,
  type CellarError,
  NotFoundError,
  type Owner,
  type SettleStatus,
  ToolResultConflictError,
  toCellarError,
} from '#libs/core';
import { Doorbells } from '#libs/events';
import { type CallSettlement, Database, settleCalls } from '#libs/persistence';
import { canonicalJson } from '#libs/tools';
import { Injectable } from '@nestjs/common';
import { type Answer, type Caller, CellsService, ownerIn } from '../cells/cells.service.js';
import { ConversationResolver } from '../conversations/conversation-resolver.js';

/** What came of a batch, and what to do once it has been written out. */
export interface ToolResultsAnswer {
  body: ToolResults;
  written: Answer['written'] | undefined;
}

/** Takes the results of calls that platforms run. */
@Injectable()
export class ToolResultsService {
  constructor(
    private readonly db: Database,
    private readonly doorbells: Doorbells,
    private readonly conversations: ConversationResolver,
    private readonly cells: CellsService,
  ) {}

  /**
   * Settles the results, then observes. Throws for a batch of exactly one that is refused; when only the observation
   * fails, its error holds what came of the results.
   */
  async post(caller: Caller, body: PostToolResults): Promise<ToolResultsAnswer> {
    const conversation = await this.conversations.current(caller.tenantId, caller.conversationId);
    const owner = ownerIn(conversation, body.memberId);
    const results = await this.#settle(owner, body.results);
    const [only] = results.length === 1 ? results : [];
    const refused = only && refusalOf(only);
    if (refused) throw refused;
    if (!body.observe) return { body: { results }, written: undefined };
    try {
      const { result, written } = await this.cells.observe(caller, owner, body.observe);
      return { body: { results, cell: result }, written };
    } catch (thrown) {
      const error = toCellarError(thrown);
      error.members = { results };
      throw error;
    }
  }

  /** A call that is named twice is settled by its first result, and the second finds it settled. */
  async #settle(owner: Owner, results: readonly PostedResult[]): Promise<ToolResults['results']> {
    const statuses: SettleStatus[] = [];
    for (const round of roundsOf(results)) {
      const settlements = round.map(({ posted }) => toSettlement(posted));
      const settled = await settleCalls(this.db, owner, settlements);
      for (const { at, posted } of round) statuses[at] = settled.statuses.get(posted.callId) ?? 'not_found';
      for (const { cellId, workerId } of settled.told) this.doorbells.ring(workerId, { kind: 'settled', cellId });
    }
    return results.map(({ callId }, at) => ({ callId, status: statuses[at] ?? 'not_found' }));
  }
}

interface Entry {
  at: number;
  posted: PostedResult;
}

/** The entries in as few rounds as there may be with no call twice in one. */
function roundsOf(results: readonly PostedResult[]): Entry[][] {
  const rounds: Entry[][] = [];
  const seen = new Map<string, number>();
  for (const [at, posted] of results.entries()) {
    const round = seen.get(posted.callId) ?? 0;
    seen.set(posted.callId, round + 1);
    (rounds[round] ??= []).push({ at, posted });
  }
  return rounds;
}

function toSettlement({ callId, result, error }: PostedResult): CallSettlement {
  const failed = error !== undefined || result?.isError === true;
  return { callId, result: canonicalJson(error === undefined ? { result } : { error }), failed };
}

function refusalOf({ callId, status }: ToolResults['results'][number]): CellarError | undefined {
  switch (status) {
    case 'settled':
    case 'duplicate':
      return undefined;
    case 'conflict':
      return new ToolResultConflictError(callId);
    case 'closed':
      return new CallClosedError(callId);
    case 'not_found':
      return new NotFoundError('There is no such call here: it was never made, or belongs to somebody else.');
  }
}
