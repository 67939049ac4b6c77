import { Buffer } from 'node:buffer';

const SURROGATE = /\p{Surrogate}/u;

/**
 * UTF-8 bytes of a text in which lone surrogates keep three bytes of their own (as WTF-8 has it): plain UTF-8 would
 * replace them.
 */
export function encodeText(text: string): Buffer {
  if (!SURROGATE.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const [char] of text.matchAll(/\p{Surrogate}|\P{Surrogate}+/gu)) {
    const code = char.charCodeAt(0);
    parts.push(
      SURROGATE.test(char)
        ? Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)])
        : Buffer.from(char, 'utf8'),
    );
  }
  return Buffer.concat(parts);
}
