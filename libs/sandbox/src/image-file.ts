import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { limits } from '#libs/core';
import type { ScriptImage } from './port.js';

/** Magic and format, then the base image's SHA-256, then the length of the changes, then the changes by gzip. */
const MAGIC = Buffer.from('CELLIMG1', 'latin1');
const VERSION_BYTES = 32;
const HEADER_BYTES = MAGIC.length + VERSION_BYTES + 4;
/** The whole memory, and what stands around it. */
const MAX_CHANGES = 2 * 65_536 * limits.memoryPages;

/** A file that is not the image of a script, or is damaged. */
export class ImageFileError extends Error {
  constructor(what: string) {
    super(`This is not a usable image of a script: ${what}.`);
    this.name = 'ImageFileError';
  }
}

/** One file of a script's memory, compressed away from the main thread. About 8 KB for a script that waits in a call. */
export async function packImage({ version, changes }: ScriptImage): Promise<Buffer> {
  const packed = await promisify(gzip)(changes, { level: constants.Z_BEST_SPEED });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(changes.byteLength);
  return Buffer.concat([MAGIC, Buffer.from(version, 'hex'), length, packed]);
}

/**
 * The image in a file that `packImage` made. The length is checked before anything is decompressed. Rejects with
 * ImageFileError when the file is no such file, is damaged or too long.
 */
export async function unpackImage(file: Uint8Array): Promise<ScriptImage> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new ImageFileError('it does not begin as one');
  }
  const length = bytes.readUInt32LE(MAGIC.length + VERSION_BYTES);
  if (length > MAX_CHANGES) throw new ImageFileError(`it says that it holds ${length} bytes`);
  const changes = new ArrayBuffer(length);
  try {
    const unpacked = await promisify(gunzip)(bytes.subarray(HEADER_BYTES), { maxOutputLength: length + 1 });
    if (unpacked.length !== length) throw new ImageFileError(`${unpacked.length} bytes instead of ${length}`);
    unpacked.copy(Buffer.from(changes));
  } catch (error) {
    if (error instanceof ImageFileError) throw error;
    throw new ImageFileError(error instanceof Error ? error.message : 'it cannot be decompressed');
  }
  return { version: bytes.toString('hex', MAGIC.length, MAGIC.length + VERSION_BYTES), changes };
}
