import { Buffer } from 'node:buffer';
import { isHigh, isLow, isSurrogate } from './surrogates.js';

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * UTF-8 bytes of a text in which lone surrogates keep three bytes of their own (as WTF-8 has it): plain UTF-8 would
 * replace them. Takes time and memory proportional to the text, whatever it is made of.
 */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (LONE_SURROGATE.test(text)) restoreSurrogates(text, bytes);
  return bytes;
}

/** The replacement of a lone surrogate is three bytes long as well, so all else is where it belongs. */
function restoreSurrogates(text: string, bytes: Buffer): void {
  for (let index = 0, at = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) at += 1;
    else if (unit < 0x800) at += 2;
    else if (isHigh(unit) && isLow(text.charCodeAt(index + 1))) {
      index += 1;
      at += 4;
    } else {
      if (isSurrogate(unit)) {
        bytes[at] = 0xed;
        bytes[at + 1] = 0x80 | ((unit >> 6) & 0x3f);
        bytes[at + 2] = 0x80 | (unit & 0x3f);
      }
      at += 3;
    }
  }
}
