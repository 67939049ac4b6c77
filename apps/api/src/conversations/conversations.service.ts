import type { ApiConfig } from '#libs/config';
import type { Branch, Conversation, PostBranch, PutConversation } from '#libs/contracts';
import type { ConversationRef } from '#libs/core';
import { type ConversationRow, Database, forkBranch, putConversation } from '#libs/persistence';
import { viewOf } from '#libs/tools';
import { Inject, Injectable } from '@nestjs/common';
import { CellStopper } from '../cells/cell-stopper.js';
import { API_CONFIG } from '../tokens.js';
import { Bindings } from './bindings.js';
import { ConversationResolver } from './conversation-resolver.js';
import { settingsInForce } from './settings-in-force.js';

/** Configures conversations and forks their branches. */
@Injectable()
export class ConversationsService {
  constructor(
    private readonly db: Database,
    private readonly resolver: ConversationResolver,
    private readonly bindings: Bindings,
    private readonly stopper: CellStopper,
    @Inject(API_CONFIG) private readonly config: ApiConfig,
  ) {}

  /** Creates or configures. Cells of an older epoch have stopped when this resolves. */
  async put(ref: ConversationRef, body: PutConversation): Promise<Conversation> {
    const { kind, model, settings } = body;
    const toolsets = body.toolsets && (await this.bindings.resolve(ref.tenantId, body.toolsets));
    const view = toolsets && (viewOf(toolsets) ?? null);
    const change = { kind, model, settings, toolsets, view };
    const { conversation, stopped } = await putConversation(this.db, ref, change);
    this.resolver.forget(ref);
    await this.stopper.tell(stopped);
    return this.#describe(conversation);
  }

  async get({ tenantId, conversationId }: ConversationRef): Promise<Conversation> {
    return this.#describe(await this.resolver.resolve(tenantId, conversationId));
  }

  /** Throws NotFoundError for an unknown conversation or branch, ConflictError for a taken id. */
  async fork(ref: ConversationRef, { branchId, from }: PostBranch): Promise<Branch> {
    await this.resolver.resolve(ref.tenantId, ref.conversationId);
    const parentId = from?.branchId ?? 'main';
    return forkBranch(this.db, ref, { branchId, parentId, sequence: from?.sequence });
  }

  #describe(row: Readonly<ConversationRow>): Conversation {
    const { conversationId, kind, model, epoch } = row;
    const toolsets = row.toolsets.map(({ version: _version, ...binding }) => binding);
    return { conversationId, kind, model, epoch, toolsets, settings: settingsInForce(row, this.config.limits) };
  }
}
