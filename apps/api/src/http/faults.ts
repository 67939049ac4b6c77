import { type Fault, InvalidRequestError } from '#libs/core';
import type { z } from 'zod';

/** More faults than this help nobody. */
const MAX_FAULTS = 100;
const SHOWN_CHARS = 80;

/** A RFC 6901 pointer made of keys and indexes. */
export function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What a schema found wrong with a value, as pointers and words. */
export function toFaults(issues: readonly z.core.$ZodIssue[], value: unknown): Fault[] {
  return issues
    .flatMap((issue) => issueFaults(issue, value))
    .slice(0, MAX_FAULTS)
    .map(({ pointer: at, detail }) => ({ pointer: shorten(at, 4 * SHOWN_CHARS), detail }));
}

/** The refusal of a body; its detail tells the first fault, for those who read nothing else. */
export function invalidBody(faults: readonly Fault[]): InvalidRequestError {
  return new InvalidRequestError(`The body is not valid: ${sentence(faults)}`, faults);
}

/** The faults of a value that has no pointers, in words. */
export function sentence(faults: readonly Fault[]): string {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  return `${first?.pointer || 'it'} ${first?.detail ?? 'is refused'}${more}.`;
}

function issueFaults(issue: z.core.$ZodIssue, value: unknown): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MAX_FAULTS)
      .map((key) => ({ pointer: pointer([...issue.path, key]), detail: `is not a known field: remove ${show(key)}` }));
  }
  return [{ pointer: pointer(issue.path), detail: describe(issue, at(value, issue.path)) }];
}

function describe(issue: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}, not ${show(given)}`;
    case 'invalid_value':
      return oneOf(issue.values, given);
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? oneOf(issue.options, given)
        : `has none of the forms it may have: ${show(given)}`;
    case 'too_big':
      return `is too large: at most ${issue.maximum} ${unit(issue.origin)}, not ${size(given)}`;
    case 'too_small':
      return `is too small: at least ${issue.minimum} ${unit(issue.origin)}, not ${size(given)}`;
    default:
      return `is refused, as it is ${show(given)}: ${issue.message}`;
  }
}

function oneOf(allowed: readonly unknown[], given: unknown): string {
  return `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}, not ${show(given)}`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function unit(origin: string): string {
  if (origin === 'string') return 'characters';
  return origin === 'array' ? 'entries' : 'in value';
}

function size(given: unknown): string {
  return typeof given === 'string' || Array.isArray(given) ? String(given.length) : show(given);
}

/** A value in a few characters, whatever it is. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(shorten(value, SHOWN_CHARS)) : String(value);
}

function shorten(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars)}...` : text;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[part];
  }
  return found;
}
