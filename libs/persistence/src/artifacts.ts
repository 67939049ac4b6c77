import { InternalError, type OutputItem, type Owner } from '#libs/core';
import type { Database } from './database.js';

/** A file that a cell left behind. */
export interface Artifact {
  mimeType: string;
  /** In bytes. */
  size: number;
  /** The file, in pieces that follow each other. Throws InternalError when the artifact is deleted meanwhile. */
  pieces: () => AsyncIterable<Buffer>;
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
    WHERE id = $3 AND tenant_id = $4
    ON CONFLICT (id) DO NOTHING`,
};

/**
 * Keeps the full text of a cell's cut result, under an id made from cell and text: however often an answer is given,
 * and by whichever process, it is kept once.
 */
export async function keepOutput(
  db: Database,
  { cellId, tenantId }: { cellId: string; tenantId: string },
  { artifactId, bytes }: { artifactId: string; bytes: Uint8Array },
): Promise<void> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await db.query(keepText, [artifactId, file, cellId, tenantId]);
}

/** Bytes of a file that are read at a time: Postgres sends them as text, which is parsed on the main thread. */
const PIECE_BYTES = 1_048_576;

const ownedBy = `id = $1 AND tenant_id = $2 AND conversation_id = $3 AND epoch = $4 AND writer = $5`;

const piece = (at: number, bytes: number): string =>
  `substring(bytes FROM $${at}::int + 1 FOR $${bytes}::int) AS piece`;

const read = {
  name: 'artifact-read',
  text: `SELECT mime_type, octet_length(bytes) AS size, ${piece(6, 7)} FROM artifacts WHERE ${ownedBy}`,
};

const readFurther = {
  name: 'artifact-read-further',
  text: `SELECT ${piece(6, 7)} FROM artifacts WHERE ${ownedBy}`,
};

/** An artifact of this owner, with its first piece; undefined when there is none. */
export async function readArtifact(db: Database, owner: Owner, artifactId: string): Promise<Artifact | undefined> {
  const scope = [artifactId, owner.tenantId, owner.conversationId, owner.epoch, owner.writer];
  const [row] = await db.query<{ mime_type: string; size: number; piece: Buffer }>(read, [...scope, 0, PIECE_BYTES]);
  return row && { mimeType: row.mime_type, size: row.size, pieces: () => piecesOf(db, scope, row) };
}

async function* piecesOf(
  db: Database,
  scope: readonly unknown[],
  first: { size: number; piece: Buffer },
): AsyncGenerator<Buffer> {
  yield first.piece;
  for (let at = PIECE_BYTES; at < first.size; at += PIECE_BYTES) {
    const [row] = await db.query<{ piece: Buffer }>(readFurther, [...scope, at, PIECE_BYTES]);
    if (!row) throw new InternalError('An artifact was deleted while it was read.');
    yield row.piece;
  }
}
