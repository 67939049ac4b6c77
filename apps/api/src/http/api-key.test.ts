import { hashApiKey } from '#libs/core';
import { describe, expect, it } from 'vitest';
import { bearerOf, keyIdOf, matchesHash, newApiKey } from './api-key.js';

const pepper = (id: string) => ({ id, key: new Uint8Array(32).fill(id.charCodeAt(0)) });

describe('API keys', () => {
  it('have ids that can be read back', () => {
    const { keyId, key } = newApiKey();
    expect(key).toMatch(/^cel_[0-9A-Z]{16}_[A-Za-z0-9_-]{32}$/);
    expect(keyIdOf(key)).toBe(keyId);
    expect(newApiKey().key).not.toBe(key);
  });

  it.each([
    '',
    'cel_',
    'cel__abcdefgh',
    'cel_a_short',
    'cel_a/b_abcdefgh',
    'xcel_a_abcdefgh',
    'cel_a_abcdefgh\n',
    'cel_a_abc\0efgh',
  ])('do not look like %j', (text) => expect(keyIdOf(text)).toBeUndefined());

  it('keep an id with a secret that holds underscores apart', () => {
    expect(keyIdOf('cel_my-key_ab_cd_ef_gh')).toBe('my-key');
  });

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc', 'abc'],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer a b', undefined],
    [undefined, undefined],
  ])('come in the header %j', (header, token) => expect(bearerOf(header)).toBe(token));

  it('match the hash under any pepper that is still there', () => {
    const { key } = newApiKey();
    const hash = hashApiKey(key, pepper('b').key);
    expect(matchesHash(key, hash, [pepper('a'), pepper('b')])).toBe(true);
    expect(matchesHash(key, hash, [pepper('a')])).toBe(false);
    expect(matchesHash(`${key}x`, hash, [pepper('b')])).toBe(false);
    expect(matchesHash(key, hash.subarray(0, 31), [pepper('b')])).toBe(false);
  });
});
