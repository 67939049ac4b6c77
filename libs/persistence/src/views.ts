import type { Database, Transaction } from './database.js';

/** A view by the hash of its document, which is JSON text. */
export interface StoredView {
  hash: string;
  document: string;
}

const keep = {
  name: 'view-keep',
  text: `INSERT INTO views (tenant_id, hash, document) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, hash) DO NOTHING`,
};

/** Keeps a view; one that is there already stays as it is. */
export async function keepView(tx: Transaction, tenantId: string, view: StoredView): Promise<void> {
  await tx.query(keep, [tenantId, view.hash, view.document]);
}

const readOne = { name: 'view-read', text: `SELECT document FROM views WHERE tenant_id = $1 AND hash = $2` };
const readToolset = {
  name: 'view-read-toolset',
  text: `SELECT document FROM toolset_versions WHERE tenant_id = $1 AND name = $2 AND version = $3`,
};

/** What views are made from, read by tenant: neither a view nor a version of a toolset ever changes. */
export function viewStore(db: Database) {
  const documentOf = async (statement: typeof readOne, values: unknown[]): Promise<string | undefined> => {
    const [row] = await db.query<{ document: string }>(statement, values);
    return row?.document;
  };
  return {
    /** The document of a view; undefined when the tenant has none by this hash. */
    readView: (tenantId: string, hash: string) => documentOf(readOne, [tenantId, hash]),
    /** A version of a toolset as it was put; undefined when the tenant has none. */
    readToolset: (tenantId: string, name: string, version: number) =>
      documentOf(readToolset, [tenantId, name, version]),
  };
}
