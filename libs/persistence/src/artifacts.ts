import type { OutputItem, Owner } from '#libs/core';
import type { Database } from './database.js';

/** A file that a cell left behind. */
export interface Artifact {
  mimeType: string;
  bytes: Buffer;
}

/**
 * Keeps the images of an output, as part of the statement that writes it: `cell` names a common table expression with
 * the owner's columns and `id`, `first` the first of three parameters, see {@link imageParameters}. The same image of a
 * cell has one id and is kept once.
 */
export const keepImages = (cell: string, first: number): string => `
  INSERT INTO artifacts (id, tenant_id, conversation_id, epoch, writer, cell_id, kind, mime_type, bytes)
  SELECT n.id, c.tenant_id, c.conversation_id, c.epoch, c.writer, c.id, 'image', n.mime_type, decode(n.data, 'base64')
  FROM ${cell} c CROSS JOIN unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[])
    AS n(id, mime_type, data)
  ON CONFLICT (id) DO NOTHING`;

/** The columns of a cell that {@link keepImages} needs. */
export const ownerColumns = 'tenant_id, conversation_id, epoch, writer, id';

/** Ids, types and base64 of the different images among the items. */
export function imageParameters(items: readonly OutputItem[]): [string[], string[], string[]] {
  const images = new Map<string, { mimeType: string; data: string }>();
  for (const item of items) {
    if (item.kind === 'image' && item.artifactId !== undefined) images.set(item.artifactId, item);
  }
  const kept = [...images.values()];
  return [[...images.keys()], kept.map(({ mimeType }) => mimeType), kept.map(({ data }) => data)];
}

const keepText = {
  name: 'artifact-keep-output',
  text: `INSERT INTO artifacts (id, tenant_id, conversation_id, epoch, writer, cell_id, kind, mime_type, bytes)
    SELECT $1, tenant_id, conversation_id, epoch, writer, id, 'output', 'text/plain; charset=utf-8', $2 FROM cells
    WHERE id = $3 AND tenant_id = $4 AND observer = $5
    ON CONFLICT (id) DO NOTHING`,
};

/** Keeps the full text of a cell's cut result, for the observer that has its place. A repeat changes nothing. */
export async function keepOutput(
  db: Database,
  place: { tenantId: string; cellId: string; observer: string },
  artifactId: string,
  text: Uint8Array,
): Promise<void> {
  await db.query(keepText, [artifactId, Buffer.from(text), place.cellId, place.tenantId, place.observer]);
}

const read = {
  name: 'artifact-read',
  text: `SELECT mime_type, bytes FROM artifacts
    WHERE id = $1 AND tenant_id = $2 AND conversation_id = $3 AND epoch = $4 AND writer = $5`,
};

/** An artifact of this owner; undefined when there is none. */
export async function readArtifact(db: Database, owner: Owner, artifactId: string): Promise<Artifact | undefined> {
  const scope = [owner.tenantId, owner.conversationId, owner.epoch, owner.writer];
  const [row] = await db.query<{ mime_type: string; bytes: Buffer }>(read, [artifactId, ...scope]);
  return row && { mimeType: row.mime_type, bytes: row.bytes };
}
