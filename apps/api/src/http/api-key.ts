import { type SecretKey } from '#libs/config';
import { hashApiKey, randomBase32 } from '#libs/core';
import { randomBytes, timingSafeEqual } from 'node:crypto';

const BEARER = /^Bearer +(\S{1,512})$/i;
const API_KEY = /^cel_([A-Za-z0-9-]{1,64})_[A-Za-z0-9_-]{8,256}$/;
const SECRET_BYTES = 24;

/** What an `Authorization` header holds after `Bearer`. */
export function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}

/** The id in a key of the form `cel_{keyId}_{secret}`; undefined for any other text. */
export function keyIdOf(key: string): string | undefined {
  return API_KEY.exec(key)?.[1];
}

/** A new key: unguessable, and its id says nothing of other keys. */
export function newApiKey(): { keyId: string; key: string } {
  const keyId = randomBase32(16);
  return { keyId, key: `cel_${keyId}_${randomBytes(SECRET_BYTES).toString('base64url')}` };
}

/** Whether a key has this hash under any pepper. Takes as long for a wrong key as for a right one. */
export function matchesHash(key: string, hash: Uint8Array, peppers: readonly SecretKey[]): boolean {
  let matches = false;
  for (const pepper of peppers) {
    const candidate = hashApiKey(key, pepper.key);
    if (candidate.length === hash.length && timingSafeEqual(candidate, hash)) matches = true;
  }
  return matches;
}
