import { ConflictError, type ConversationKind, type ConversationRef } from '#libs/core';
import { cancelCalls } from './calls/cancel.js';
import type { Database, Transaction } from './database.js';
import { type StoredView, keepView } from './views.js';

/** A toolset bound to a conversation, with the version that was newest when it was bound. */
export interface BoundToolset {
  toolset: string;
  version: number;
  memberIds?: string[];
  exposure?: 'core' | 'declared' | 'deferred' | 'model-only';
}

/** A conversation's row. Settings hold only what was set. */
export interface ConversationRow extends ConversationRef {
  kind: ConversationKind;
  model: string | null;
  epoch: number;
  /** Grows with every change of the row. */
  version: number;
  settings: Record<string, unknown>;
  toolsets: BoundToolset[];
  /** Hash of the view that the toolsets make; null: no tools. */
  view: string | null;
}

/** What a PUT changes; what is undefined keeps its value. */
export interface ConversationChange {
  kind: ConversationKind;
  model?: string | null;
  settings?: Record<string, unknown>;
  toolsets?: BoundToolset[];
  /** The view that the toolsets make, with them; null: no tools. */
  view?: StoredView | null;
}

/** A cell that a new epoch stopped, and the worker that must end its guest. */
export interface EpochStop {
  cellId: string;
  workerId: string | null;
  observer: string | null;
}

interface Row {
  kind: ConversationKind;
  model: string | null;
  epoch: number;
  version: number;
  settings: string;
  toolsets: string;
  view: string | null;
  deleted_at: Date | null;
}

const columns = 'kind, model, epoch, version, settings, toolsets, view, deleted_at';

const find = {
  name: 'conversation-find',
  text: `SELECT ${columns} FROM conversations WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
};

/** The conversation as it is now; undefined when there is none, or it was deleted. */
export async function findConversation(db: Database, ref: ConversationRef): Promise<ConversationRow | undefined> {
  const [row] = await db.query<Row>(find, [ref.tenantId, ref.conversationId]);
  return row && toConversation(ref, row);
}

const settleView = {
  name: 'conversation-settle-view',
  text: `UPDATE conversations SET view = $4 WHERE tenant_id = $1 AND id = $2 AND version = $3 AND view IS NULL`,
};

/**
 * Gives a conversation that was bound before there were views the view of its toolsets. Changes nothing when it was
 * configured anew since this version of it was read.
 */
export async function settleOldView(
  db: Database,
  { tenantId, conversationId, version }: Readonly<ConversationRow>,
  view: StoredView,
): Promise<void> {
  await db.transaction(async (tx) => {
    await keepView(tx, tenantId, view);
    await tx.query(settleView, [tenantId, conversationId, version, view.hash]);
  });
}

const create = {
  name: 'conversation-create',
  text: `INSERT INTO conversations (tenant_id, id, kind) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id) DO NOTHING`,
};
const lock = {
  name: 'conversation-lock',
  text: `SELECT ${columns} FROM conversations WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
};
const update = {
  name: 'conversation-update',
  text: `UPDATE conversations SET kind = $3, model = $4, epoch = $5, settings = $6, toolsets = $7, view = $8,
      version = version + 1, deleted_at = NULL
    WHERE tenant_id = $1 AND id = $2 RETURNING ${columns}`,
};
const addMain = {
  name: 'conversation-add-main',
  text: `INSERT INTO branches (tenant_id, conversation_id, epoch, id, path_ids, path_until)
    VALUES ($1, $2, $3, 'main', '{main}', ARRAY[9007199254740991]) ON CONFLICT DO NOTHING`,
};
const stopOlder = {
  name: 'conversation-stop-older-epochs',
  text: `UPDATE cells SET state = 'terminated', ended_at = clock_timestamp(), wake_at = NULL,
      complete = (worker_id IS NULL)
    WHERE tenant_id = $1 AND conversation_id = $2 AND epoch < $3 AND state IN ('queued', 'running')
    RETURNING id, worker_id, observer`,
};

/**
 * Creates or configures a conversation. Another model, and recreation after a deletion, start a new epoch, which stops
 * the cells of older ones (9. Protocols, 10). Throws {@link ConflictError} when the kind would change.
 */
export async function putConversation(
  db: Database,
  ref: ConversationRef,
  change: ConversationChange,
): Promise<{ conversation: ConversationRow; stopped: EpochStop[] }> {
  const { tenantId, conversationId } = ref;
  return db.transaction(async (tx) => {
    await tx.query(create, [tenantId, conversationId, change.kind]);
    const [row] = await tx.query<Row>(lock, [tenantId, conversationId]);
    if (!row) throw new Error('the conversation vanished under its lock');
    const recreated = row.deleted_at !== null;
    if (!recreated && row.kind !== change.kind) {
      throw new ConflictError(
        `Conversation ${conversationId} is of kind ${row.kind} and cannot become ${change.kind}: delete it first, or use another id.`,
      );
    }
    const before: Row = recreated ? { ...row, model: null, settings: '{}', toolsets: '[]', view: null } : row;
    const model = change.model === undefined ? before.model : toText(change.model);
    const switched = before.model !== null && model !== before.model;
    const epoch = row.epoch + (recreated || switched ? 1 : 0);
    const settings = { ...(JSON.parse(before.settings) as object), ...change.settings };
    const toolsets = change.toolsets === undefined ? before.toolsets : JSON.stringify(change.toolsets);
    if (change.view) await keepView(tx, tenantId, change.view);
    const view = change.view === undefined ? before.view : (change.view?.hash ?? null);
    const parameters = [tenantId, conversationId, change.kind, model, epoch, JSON.stringify(settings), toolsets, view];
    const [updated] = await tx.query<Row>(update, parameters);
    await tx.query(addMain, [tenantId, conversationId, epoch]);
    const stopped = epoch > row.epoch ? await stopOlderEpochs(tx, ref, epoch) : [];
    return { conversation: toConversation(ref, updated ?? row), stopped };
  });
}

async function stopOlderEpochs(tx: Transaction, ref: ConversationRef, epoch: number): Promise<EpochStop[]> {
  const rows = await tx.query<{ id: string; worker_id: string | null; observer: string | null }>(stopOlder, [
    ref.tenantId,
    ref.conversationId,
    epoch,
  ]);
  await cancelCalls(
    tx,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({ cellId: row.id, workerId: row.worker_id, observer: row.observer }));
}

/** Names may hold characters that Postgres refuses, so they are kept as JSON texts. */
function toText(model: string | null): string | null {
  return model === null ? null : JSON.stringify(model);
}

function toConversation(ref: ConversationRef, row: Row): ConversationRow {
  return {
    tenantId: ref.tenantId,
    conversationId: ref.conversationId,
    kind: row.kind,
    model: row.model === null ? null : (JSON.parse(row.model) as string),
    epoch: row.epoch,
    version: row.version,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    toolsets: JSON.parse(row.toolsets) as BoundToolset[],
    view: row.view,
  };
}
