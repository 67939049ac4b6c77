import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveKey, parseSecretKeys, type SecretKeys } from './secret-keys.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const one = (fill: number, id = 'a'): SecretKeys => [{ id, key: new Uint8Array(32).fill(fill) }];

describe('parseSecretKeys', () => {
  test('reads back what was written, in order, in either alphabet', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/);
    const list = fc.uniqueArray(fc.record({ id, key }), { minLength: 1, maxLength: 4, selector: (entry) => entry.id });
    fc.assert(
      fc.property(list, fc.constantFrom('base64' as const, 'base64url' as const), (keys, encoding) => {
        const text = keys.map((entry) => `${entry.id}:${Buffer.from(entry.key).toString(encoding)}`).join(',');
        expect(parseSecretKeys(text)).toEqual(keys);
      }),
    );
  });

  const good = Buffer.alloc(32, 1).toString('base64');
  test.each([
    ['', 'entry 1 has no colon between id and key'],
    [good, 'entry 1 has no colon between id and key'],
    [`:${good}`, 'the id of entry 1 is not 1 to 32 of A-Z a-z 0-9 _ -'],
    [`a:${good},`, 'entry 2 has no colon between id and key'],
    [`a:${good},a:${good}`, 'entry 2 repeats an id'],
    [`a:${good.slice(0, 20)}`, 'the key of entry 1 has 15 bytes'],
    ['a:with spaces!', 'the key of entry 1 is not base64'],
  ])('refuses %j', (text, reason) => {
    expect(parseSecretKeys(text)).toBe(reason);
  });
});

describe('deriveKey', () => {
  test('keeps ids and order; the first one writes', () => {
    const derived = deriveKey([...one(2, 'new'), ...one(1, 'old')], 'token-signing');
    expect(derived.candidates.map((entry) => entry.id)).toEqual(['new', 'old']);
    expect(derived.current).toBe(derived.candidates[0]);
    expect(derived.candidates[1]).toEqual(deriveKey(one(1, 'old'), 'token-signing').current);
  });

  test('is independent per purpose and per key, and stable over releases', () => {
    const pepper = hex(deriveKey(one(1), 'api-key-pepper').current.key);
    expect(pepper).not.toBe(hex(deriveKey(one(1), 'token-signing').current.key));
    expect(pepper).not.toBe(hex(deriveKey(one(2), 'api-key-pepper').current.key));
    expect(pepper).toBe('1cca43461c52fe716924a499900ac6f5d2faa97ab3f0f610db1eb7f9918eda69');
  });
});
