import { hkdfSync } from 'node:crypto';

/** One of the deployment's secret keys. Rows and tokens that depend on it carry its id. */
export interface SecretKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/** The deployment's secret keys, never empty. The first one writes, all of them read. */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]];

/** What a derived key is for. A new purpose gives a key that is independent of all others. */
export type KeyPurpose = 'api-key-pepper' | 'token-signing';

/** Keys derived for one purpose: `current` for writing, `candidates` (current first) for reading. */
export interface DerivedKeys {
  current: SecretKey;
  candidates: SecretKeys;
}

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Reads a list `id:base64,id:base64,...` of 32-byte keys (standard or URL alphabet, padding optional).
 * Returns the keys, or the reason for refusing, which quotes no part of a key.
 */
export function parseSecretKeys(text: string): SecretKeys | string {
  const keys: SecretKey[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const which = `entry ${index + 1}`;
    const colon = entry.indexOf(':');
    if (colon < 0) return `${which} has no colon between id and key`;
    const id = entry.slice(0, colon).trim();
    const encoded = entry.slice(colon + 1).trim();
    if (!ID.test(id)) return `the id of ${which} is not 1 to 32 of A-Z a-z 0-9 _ -`;
    if (keys.some((known) => known.id === id)) return `${which} repeats an id`;
    if (!BASE64.test(encoded)) return `the key of ${which} is not base64`;
    const key = new Uint8Array(Buffer.from(encoded, 'base64'));
    if (key.length !== KEY_BYTES) return `the key of ${which} has ${key.length} bytes`;
    keys.push({ id, key });
  }
  const [first, ...others] = keys;
  return first === undefined ? 'the list is empty' : [first, ...others];
}

/**
 * Derives the keys of one purpose from the deployment's secret keys, by HKDF-SHA256; ids are kept. The secret keys
 * themselves are used for nothing else, so what is derived for one purpose tells nothing about another.
 */
export function deriveKey(secretKeys: SecretKeys, purpose: KeyPurpose): DerivedKeys {
  const derive = ({ id, key }: SecretKey): SecretKey => ({
    id,
    key: new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), `cellar/${purpose}`, KEY_BYTES)),
  });
  const [first, ...others] = secretKeys;
  const current = derive(first);
  return { current, candidates: [current, ...others.map(derive)] };
}
