import type { Database } from './database.js';

/** A version of a toolset: the body that was put, as JSON text. */
export interface ToolsetRow {
  name: string;
  version: number;
  document: string;
}

const bump = {
  name: 'toolset-bump',
  text: `INSERT INTO toolsets (tenant_id, name, version) VALUES ($1, $2, 1)
    ON CONFLICT (tenant_id, name) DO UPDATE SET version = toolsets.version + 1, deleted_at = NULL
    RETURNING version`,
};
const addVersion = {
  name: 'toolset-add-version',
  text: `INSERT INTO toolset_versions (tenant_id, name, version, document) VALUES ($1, $2, $3, $4)`,
};

/** Adds an immutable version and makes it the newest. Returns its number. */
export async function putToolset(db: Database, tenantId: string, name: string, document: string): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ version: number }>(bump, [tenantId, name]);
    const version = row?.version ?? 1;
    await tx.query(addVersion, [tenantId, name, version, document]);
    return version;
  });
}

/** The newest version of a tenant's toolset; undefined when there is none. */
export async function findToolset(db: Database, tenantId: string, name: string): Promise<ToolsetRow | undefined> {
  const newest = await db.prisma.toolset.findFirst({ where: { tenantId, name, deletedAt: null } });
  if (!newest) return undefined;
  const row = await db.prisma.toolsetVersion.findUnique({
    where: { tenantId_name_version: { tenantId, name, version: newest.version } },
  });
  return row ? { name, version: row.version, document: row.document } : undefined;
}

/** A tenant's toolsets by name. */
export async function listToolsets(db: Database, tenantId: string): Promise<{ name: string; version: number }[]> {
  return db.prisma.toolset.findMany({
    where: { tenantId, deletedAt: null },
    orderBy: { name: 'asc' },
    select: { name: true, version: true },
  });
}

/** Takes a toolset out of the tenant's list; conversations that bound it keep their version. False: there was none. */
export async function deleteToolset(db: Database, tenantId: string, name: string): Promise<boolean> {
  const { count } = await db.prisma.toolset.updateMany({
    where: { tenantId, name, deletedAt: null },
    data: { deletedAt: new Date() },
  });
  return count > 0;
}
