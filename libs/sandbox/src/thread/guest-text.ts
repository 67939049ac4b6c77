import { Buffer } from 'node:buffer';

const SURROGATE = /\p{Surrogate}/u;

/** What the host puts around a script; the same texts stand in guest/main.js. */
const OPENING = '(async()=>{';
const CLOSING = '\n})';

/**
 * UTF-8 bytes of a text in which lone surrogates keep their own three bytes, as the engine reads and writes them
 * (plain UTF-8 would replace them).
 */
export function encodeText(text: string): Buffer {
  if (!SURROGATE.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    parts.push(
      code >= 0xd800 && code <= 0xdfff
        ? Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)])
        : Buffer.from(char, 'utf8'),
    );
  }
  return Buffer.concat(parts);
}

/** The script as one async arrow function: its lines keep their numbers. */
export function wrapScript(source: string): Buffer {
  return encodeText(OPENING + source + CLOSING);
}

/** Whether a script begins with a Markdown code fence. Some fenced scripts are legal JavaScript, so it is looked for. */
export function isFenced(source: string): boolean {
  return /^\s*```/.test(source);
}

/** Number of lines as the engine counts them. */
export function countLines(source: string): number {
  let lines = 1;
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Cuts a text to at most `bytes` bytes of UTF-8 at a character's boundary. */
export function cutText(text: string, bytes: number): string {
  const encoded = encodeText(text);
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}
