import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countLines, cutText, isFenced } from './guest-text.js';

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
