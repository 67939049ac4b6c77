import type { ValueWrite } from '#libs/core';
import { limits } from '#libs/core';

/** A described reason is shorter. */
const WARNING_CHARS = 1_024;

/** Whether a value is a whole number from 0 on. */
export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
/** Whether a value is a number from 0 on. */
export const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;
/** Whether a value is a text of at most `max` characters. */
export const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;

/** Whether a value is a list of at most `maxLength` of the parts. */
export function isListOf(value: unknown, isPart: (part: unknown) => boolean, maxLength: number): boolean {
  return Array.isArray(value) && value.length <= maxLength && value.every(isPart);
}

/** Whether a value is a view on its way to a thread. */
export function isSharedView(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, memory } = value as Record<string, unknown>;
  return isCount(id) && memory instanceof SharedArrayBuffer;
}

/** Whether a value may be the changes of a script's memory: not more than twice that memory. */
export const isChanges = (value: unknown): value is ArrayBuffer =>
  value instanceof ArrayBuffer && value.byteLength <= 2 * 65_536 * limits.memoryPages;

/** Whether a value is a settled call, within the size caps. */
export function isSettledCall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { callId, result } = value as Record<string, unknown>;
  if (!isCount(callId) || typeof result !== 'object' || result === null) return false;
  const { ok, json, message } = result as Record<string, unknown>;
  return ok === true ? isText(json, limits.callResultChars) : ok === false && isText(message, limits.errorBytes);
}

/** Whether a value is an item of output, within the size caps. */
export function isItem(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, text, data, mimeType, hash } = value as Record<string, unknown>;
  if (kind === 'image' || kind === 'audio') {
    const isHashed = kind === 'image' ? isText(hash, 64) : hash === undefined;
    return isText(data, limits.outputChars) && isText(mimeType, 64) && isHashed;
  }
  return (kind === 'text' || kind === 'console') && isText(text, limits.outputChars);
}

/** Whether a value is a list of reasons of unhandled rejections. */
export function areWarnings(value: unknown): value is string[] {
  return isListOf(value, (part) => isText(part, WARNING_CHARS), limits.warnings);
}

/** Whether a value is a list of changed keys within the limits of one cell. */
export function areWrites(value: unknown): value is ValueWrite[] {
  if (!Array.isArray(value)) return false;
  let chars = 0;
  for (const write of value as readonly unknown[]) {
    if (typeof write !== 'object' || write === null) return false;
    const { key, json } = write as Record<string, unknown>;
    if (!isText(key, limits.valueKeyChars) || !(json === null || isText(json, limits.valueChars))) return false;
    chars += key.length + (json === null ? 0 : json.length);
  }
  return chars <= 2 * limits.valuesChars;
}
