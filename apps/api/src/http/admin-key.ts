import { UnauthorizedError } from '#libs/core';
import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerOf } from './api-key.js';

/** Throws UnauthorizedError unless the header holds the operator's key. */
export function checkAdminKey(authorization: string | undefined, adminKey: string): void {
  const given = bearerOf(authorization);
  // Hashes have one length, which the comparison needs, and tell nothing of that of the key.
  if (given !== undefined && timingSafeEqual(sha256(given), sha256(adminKey))) return;
  throw new UnauthorizedError('Admin routes take the operator key: "authorization: Bearer {CELLAR_ADMIN_KEY}".');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
