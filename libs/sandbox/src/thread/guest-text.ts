import type { Buffer } from 'node:buffer';
import { encodeText } from '#libs/script';

/** What the host puts around a script; the same texts stand in guest/main.js. */
const OPENING = '(async()=>{';
const CLOSING = '\n})';

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
