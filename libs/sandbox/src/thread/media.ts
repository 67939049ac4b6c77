import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

/** What `image()` and `audio()` show. */
export type MediaKind = 'image' | 'audio';

/** A file that was recognized, or what the given text is instead. */
export type MediaCheck = { ok: true; data: string; mimeType: string; hash: string } | { ok: false; problem: string };

/** Bytes from which a file's type is told. */
const HEAD_BYTES = 96;

/** A type, whether a file's first bytes are of it, and whether the whole file is there (where that is told cheaply). */
interface FileType {
  mimeType: string;
  starts(head: Buffer): boolean;
  isWhole?(file: Buffer): boolean;
}

const text = (head: Buffer, start: number, end: number): string => head.toString('latin1', start, end);
const isRiff = (head: Buffer, form: string): boolean => text(head, 0, 4) === 'RIFF' && text(head, 8, 12) === form;

const TYPES: Record<MediaKind, readonly FileType[]> = {
  image: [
    {
      mimeType: 'image/png',
      starts: (head) => text(head, 0, 8) === '\x89PNG\r\n\x1a\n',
      isWhole: (file) => file.lastIndexOf('IEND') > 0,
    },
    { mimeType: 'image/jpeg', starts: (head) => text(head, 0, 3) === '\xff\xd8\xff' },
    { mimeType: 'image/gif', starts: (head) => /^GIF8[79]a/.test(text(head, 0, 6)) },
    {
      mimeType: 'image/webp',
      starts: (head) => isRiff(head, 'WEBP'),
      isWhole: (file) => file.readUInt32LE(4) + 8 <= file.length,
    },
  ],
  audio: [
    { mimeType: 'audio/wav', starts: (head) => isRiff(head, 'WAVE') },
    { mimeType: 'audio/mpeg', starts: (head) => text(head, 0, 3) === 'ID3' || isMp3Frame(head) },
    { mimeType: 'audio/aac', starts: (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0 },
    { mimeType: 'audio/ogg', starts: (head) => text(head, 0, 4) === 'OggS' },
    { mimeType: 'audio/flac', starts: (head) => text(head, 0, 4) === 'fLaC' },
    {
      mimeType: 'audio/mp4',
      starts: (head) => text(head, 4, 8) === 'ftyp' && !/^(?:hei|hev|avi|mif)/.test(text(head, 8, 12)),
    },
    {
      mimeType: 'audio/webm',
      starts: (head) => text(head, 0, 4) === '\x1aE\xdf\xa3' && text(head, 4, HEAD_BYTES).includes('webm'),
    },
  ],
};

/**
 * Checks a base64 `data:` URL and tells its type by its bytes; what the URL declares does not count. The data comes
 * back without whitespace, `hash` is the file's SHA-256. `problem` completes a sentence: "and this is ...". Takes time proportional to the text.
 */
export function checkMedia(kind: MediaKind, url: string): MediaCheck {
  const head = /^\s*data:([^,]{0,200}),/i.exec(url);
  if (head === null) return { ok: false, problem: describeOther(url) };
  if (!/;\s*base64\s*$/i.test(head[1] ?? '')) return { ok: false, problem: 'a data: URL that is not base64' };
  const data = url.slice(head[0].length).replaceAll(/\s+/g, '');
  const problem = findBase64Problem(data);
  if (problem !== undefined) return { ok: false, problem };
  const file = Buffer.from(data, 'base64');
  const start = file.subarray(0, HEAD_BYTES);
  const type = TYPES[kind].find((candidate) => candidate.starts(start));
  if (type === undefined) return { ok: false, problem: 'a file of another type' };
  if (type.isWhole?.(file) === false)
    return { ok: false, problem: `the start of a file (${type.mimeType}) whose end is missing` };
  const hash = createHash('sha256').update(file).digest('base64url');
  return { ok: true, data, mimeType: type.mimeType, hash };
}

function describeOther(url: string): string {
  const scheme = /^\s*([a-z][a-z0-9+.-]{0,30}):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'a text that is no URL';
  return `a ${scheme}: URL (nothing is fetched; load the file with a tool)`;
}

function findBase64Problem(data: string): string | undefined {
  if (data === '') return 'empty';
  const end = data.search(/[^A-Za-z0-9+/]/);
  if (end !== -1 && !/^={1,2}$/.test(data.slice(end, end + 3))) return 'not decodable as base64';
  return data.length % 4 === 0 ? undefined : 'truncated base64';
}

/** A frame header of MPEG layer III. */
function isMp3Frame(head: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = head;
  const isLayer3 = (second & 0xe6) === 0xe2;
  return first === 0xff && isLayer3 && (second & 0x18) !== 0x08 && third >> 4 !== 15 && (third & 0x0c) !== 0x0c;
}
