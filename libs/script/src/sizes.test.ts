import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSize } from './sizes.js';

test.each([
  [0, '0 B'],
  [70, '70 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KB'],
  [1_536, '1.5 KB'],
  [1_048_000, '1023.4 KB'],
  [1_048_575, '1.0 MB'],
  [12_582_912, '12.0 MB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test('what is shown is within a twentieth of its unit, and below 1,024 of it', () => {
  const units = { B: 1, KB: 1_024, MB: 1_048_576 };
  fc.assert(
    fc.property(fc.nat(16_777_216), (bytes) => {
      const [, number = '', unit = ''] = /^([0-9.]+) (B|KB|MB)$/.exec(formatSize(bytes)) ?? [];
      const size = units[unit as keyof typeof units];
      expect(Number(number)).toBeLessThan(1_024);
      expect(Math.abs(Number(number) * size - bytes)).toBeLessThanOrEqual(size / 20 + 1e-6);
    }),
  );
});
