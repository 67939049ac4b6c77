import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countLines, cutText, encodeText, isFenced } from './guest-text.js';

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\ud800', '\udfff', '\0', '\n'), fc.string({ unit: 'binary', maxLength: 1 })),
});

it('is UTF-8 for all that UTF-8 can hold, and three bytes for a lone surrogate', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const lone = text.match(/\p{Surrogate}/gu)?.length ?? 0;
      const encoded = encodeText(text);
      expect(encoded.length).toBe(Buffer.byteLength(text));
      if (lone === 0) expect(encoded.toString('utf8')).toBe(text);
    }),
  );
  expect(encodeText('a\ud800').toString('hex')).toBe('61eda080');
});

it('cuts at a boundary, never over the budget', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, bytes) => {
      const cut = cutText(text, bytes);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(text) - Buffer.byteLength(cut) < 4 || Buffer.byteLength(cut) > bytes - 4).toBe(true);
    }),
  );
});

it('knows fences and lines', () => {
  expect(['```js\n1', ' \n```'].map(isFenced)).toEqual([true, true]);
  expect(['text(`a`)', '1 // ```'].map(isFenced)).toEqual([false, false]);
  expect(['', 'a', 'a\nb', '\n\n'].map(countLines)).toEqual([1, 1, 2, 3]);
});
