import { describe, expect, it } from 'vitest';
import { isCellId, isPlatformName, newCellId, newSeed, randomBase32 } from './ids.js';

describe('ids', () => {
  it('are never the same, over many portions of random bytes', () => {
    const ids = new Set(Array.from({ length: 5_000 }, newCellId));
    expect(ids.size).toBe(5_000);
    for (const id of ids) expect(isCellId(id)).toBe(true);
  });

  it('use each of the 32 characters about as often', () => {
    const counts = new Map<string, number>();
    for (const character of Array.from({ length: 200 }, () => randomBase32(160)).join('')) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it.each(['c_0000000000000000', 'c_ZYXWVTSRQPNMKJHG'])('%s is the form of a cell id', (id) => {
    expect(isCellId(id)).toBe(true);
  });

  it.each([
    '',
    'c_',
    'c_000000000000000',
    'c_00000000000000000',
    'c_000000000000000I',
    'C_0000000000000000',
    'c_0000000000000000\n',
  ])('%j is not', (id) => expect(isCellId(id)).toBe(false));

  it.each(['a', 'A-z.0_9:x', '...', 'x'.repeat(128)])('%s is a name of a platform', (name) => {
    expect(isPlatformName(name)).toBe(true);
  });

  it.each(['', '.', '..', 'a/b', 'a b', 'ä', 'a\n', 'x'.repeat(129)])('%j is not', (name) => {
    expect(isPlatformName(name)).toBe(false);
  });

  it('never make a seed of zero', () => {
    for (let i = 0; i < 1_000; i++) expect(newSeed()).not.toEqual([0, 0]);
  });
});
