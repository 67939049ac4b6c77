import { createHmac } from 'node:crypto';

/**
 * What is kept of an API key: HMAC-SHA256 of all of it under a pepper of 32 bytes, so that a copy of the table is of no
 * use to anybody.
 */
export function hashApiKey(key: string, pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}
