import { newTenantId, NotFoundError } from '#libs/core';
import type { Database } from './database.js';

/** A key as it is checked: whose it is and its keyed hash. */
export interface KeyRow {
  keyId: string;
  tenantId: string;
  hash: Uint8Array;
  expiresAt: Date | null;
  tenantSuspended: boolean;
}

/** Makes a tenant and returns its id. */
export async function createTenant(db: Database, name: string): Promise<string> {
  const id = newTenantId();
  await db.prisma.tenant.create({ data: { id, name: JSON.stringify(name) } });
  return id;
}

/** Keeps a key of a tenant by its hash. Throws NotFoundError for an unknown tenant. */
export async function addKey(
  db: Database,
  key: { keyId: string; tenantId: string; name?: string; hash: Uint8Array; expiresAt?: Date },
): Promise<void> {
  const tenant = await db.prisma.tenant.findUnique({ where: { id: key.tenantId }, select: { id: true } });
  if (!tenant) throw new NotFoundError('There is no such tenant.');
  await db.prisma.apiKey.create({
    data: {
      id: key.keyId,
      tenantId: key.tenantId,
      name: key.name === undefined ? null : JSON.stringify(key.name),
      hash: Uint8Array.from(key.hash),
      expiresAt: key.expiresAt ?? null,
    },
  });
}

/** Looks a key up by its id; the caller compares the hash. */
export async function findKey(db: Database, keyId: string): Promise<KeyRow | undefined> {
  const row = await db.prisma.apiKey.findUnique({
    where: { id: keyId },
    include: { tenant: { select: { suspendedAt: true } } },
  });
  if (!row) return undefined;
  return {
    keyId: row.id,
    tenantId: row.tenantId,
    hash: row.hash,
    expiresAt: row.expiresAt,
    tenantSuspended: row.tenant.suspendedAt !== null,
  };
}
