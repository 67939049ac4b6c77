import { createHash, randomBytes, randomInt } from 'node:crypto';

/** Crockford's base32: no I, L, O, U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CELL_ID = /^c_[0-9A-HJKMNP-TV-Z]{16}$/;
const ARTIFACT_ID = /^a_[0-9A-HJKMNP-TV-Z]{16}$/;
const NAME = /^[A-Za-z0-9._:-]{1,128}$/;

/** Random bytes are taken from the system in portions: one call for each id would cost more than all else about it. */
const PORTION = 4_096;
let portion = Buffer.alloc(0);
let used = 0;

/** `length` characters of Crockford base32 from the system's generator, 5 random bits each. At most 4,096. */
export function randomBase32(length: number): string {
  if (used + length > portion.length) {
    portion = randomBytes(PORTION);
    used = 0;
  }
  let text = '';
  for (const end = used + length; used < end; used++) text += ALPHABET[(portion[used] ?? 0) & 31];
  return text;
}

/** A cell id: `c_` and 80 random bits, so ids are never reused and cannot be guessed. */
export function newCellId(): string {
  return `c_${randomBase32(16)}`;
}

/** Whether a text has the form of a cell id. */
export function isCellId(text: string): boolean {
  return CELL_ID.test(text);
}

/** The id of a tool call: `call_` and 80 random bits. It is the idempotency key of its result. */
export function newCallId(): string {
  return `call_${randomBase32(16)}`;
}

/**
 * The id of what a cell leaves behind: `a_` and 16 characters of Crockford base32, made from the cell's own id, so that
 * the same `content` of one cell (the hash of an image, say) has the same id in every process, and no other cell's has.
 */
export function artifactIdOf(cellId: string, content: string): string {
  const hash = createHash('sha256').update(`${cellId} ${content}`).digest();
  let text = '';
  for (const byte of hash.subarray(0, 16)) text += ALPHABET[byte & 31];
  return `a_${text}`;
}

/** Whether a text has the form of an artifact's id. */
export function isArtifactId(text: string): boolean {
  return ARTIFACT_ID.test(text);
}

/** A tenant id: `t_` and 80 random bits. */
export function newTenantId(): string {
  return `t_${randomBase32(16)}`;
}

/** An id for one start of a process (API or worker): new at each start, never reused. */
export function newProcessId(role: 'api' | 'worker'): string {
  return `${role}-${randomBase32(12)}`;
}

/** A token that marks one observation of one cell. */
export function newObserverToken(): string {
  return randomBase32(16);
}

/** The platform's own names (conversation, member, branch): 1-128 of `A-Za-z0-9._:-`, not `.` or `..`. */
export function isPlatformName(text: string): boolean {
  return NAME.test(text) && text !== '.' && text !== '..';
}

/** A 64-bit seed for a script's random numbers, as two unsigned halves; never zero. */
export function newSeed(): [number, number] {
  const high = randomInt(0, 2 ** 32);
  const low = randomInt(0, 2 ** 32);
  return high === 0 && low === 0 ? [0, 1] : [high, low];
}
