import { ConflictError, NotFoundError, type ConversationRef, limits } from '#libs/core';
import type { Database } from './database.js';
import { lockCounter } from './values-sql.js';

/** A fork: which branch from which, and the sequence up to which its parent's values are seen. */
export interface Fork {
  branchId: string;
  parentId: string;
  forkedAt: number;
}

const epochOf = {
  name: 'branch-epoch',
  text: `SELECT epoch FROM conversations WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`,
};
const parent = {
  name: 'branch-parent',
  text: `SELECT path_ids, path_until FROM branches
    WHERE tenant_id = $1 AND conversation_id = $2 AND epoch = $3 AND id = $4`,
};
const insert = {
  name: 'branch-insert',
  text: `INSERT INTO branches (tenant_id, conversation_id, epoch, id, parent_id, forked_at, path_ids, path_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
};

/**
 * Forks a branch from another one at a sequence (its head by default), reading the counter under its lock, so the point
 * lies between two commits. The path is stored with the branch: reading values needs no recursion.
 * Throws NotFoundError for an unknown conversation or branch, ConflictError for a taken id or a path too deep.
 */
export async function forkBranch(
  db: Database,
  ref: ConversationRef,
  fork: { branchId: string; parentId: string; sequence?: number },
): Promise<Fork> {
  return db.transaction(async (tx) => {
    const scope = [ref.tenantId, ref.conversationId];
    const [conversation] = await tx.query<{ epoch: number }>(epochOf, scope);
    if (!conversation) throw new NotFoundError('There is no such conversation.');
    const { epoch } = conversation;
    const [from] = await tx.query<{ path_ids: string[]; path_until: number[] }>(parent, [
      ...scope,
      epoch,
      fork.parentId,
    ]);
    if (!from) throw new NotFoundError(`There is no branch ${fork.parentId} to fork from.`);
    if (from.path_ids.length > limits.branchDepth) {
      throw new ConflictError(
        `Branch ${fork.parentId} is ${limits.branchDepth} forks deep already: fork from an earlier one.`,
      );
    }
    const [head] = await tx.query<{ last_sequence: number }>(lockCounter, [...scope, epoch]);
    const forkedAt = Math.min(fork.sequence ?? Number.MAX_SAFE_INTEGER, head?.last_sequence ?? 0);
    const inserted = await tx.query(insert, [
      ...scope,
      epoch,
      fork.branchId,
      fork.parentId,
      forkedAt,
      [fork.branchId, ...from.path_ids],
      [Number.MAX_SAFE_INTEGER, ...from.path_until.map((until) => Math.min(Number(until), forkedAt))],
    ]);
    if (inserted.length === 0) throw new ConflictError(`Branch ${fork.branchId} exists already.`);
    return { branchId: fork.branchId, parentId: fork.parentId, forkedAt };
  });
}

/** Whether a branch exists in the conversation's given epoch. */
export async function branchExists(db: Database, ref: ConversationRef, epoch: number, id: string): Promise<boolean> {
  const { tenantId, conversationId } = ref;
  const found = await db.prisma.branch.findUnique({
    where: { tenantId_conversationId_epoch_id: { tenantId, conversationId, epoch, id } },
    select: { id: true },
  });
  return found !== null;
}
