import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeText } from './text-bytes.js';

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
  expect(encodeText('é😀\udfff€\ud83d').toString('hex')).toBe('c3a9f09f9880edbfbfe282aceda0bd');
});

it('costs no more memory than its bytes for a text of nothing but lone surrogates', () => {
  const text = '\ud800'.repeat(4_194_304);
  const before = process.memoryUsage().heapUsed;
  expect(encodeText(text).length).toBe(3 * text.length);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * 3 * text.length);
});
