import { InvalidRequestError, UnsupportedMediaTypeError } from '#libs/core';
import { isUtf8 } from 'node:buffer';

/** Deeper than any legal body, and shallow enough for every recursive function it will pass through. */
const MAX_DEPTH = 100;

/**
 * Reads a body: JSON in UTF-8, no deeper than 100 levels, without `__proto__` keys, which the schemas would drop
 * silently. An empty body is undefined. Throws InvalidRequestError, UnsupportedMediaTypeError.
 */
export function readJsonBody(bytes: Buffer, contentEncoding: string | undefined): unknown {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new UnsupportedMediaTypeError(
      `The body is encoded as ${JSON.stringify(contentEncoding.slice(0, 40))}: send it as it is, without content-encoding.`,
    );
  }
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new InvalidRequestError('The body is not UTF-8.');
  const value = parse(bytes.toString('utf8'));
  checkShape(value);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    // V8's message names the place and quotes a few characters around it.
    const why = cause instanceof Error ? cause.message : '';
    throw new InvalidRequestError(`The body is not JSON: ${why}.`, [], { cause });
  }
}

/** Without recursion, for a deep body would end it. */
function checkShape(body: unknown): void {
  let level: object[] = isObject(body) ? [body] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new InvalidRequestError(`The body is nested more than ${MAX_DEPTH} levels deep.`);
    const next: object[] = [];
    for (const value of level) {
      if (Object.hasOwn(value, '__proto__')) {
        throw new InvalidRequestError('The body has a field named "__proto__", which is refused: rename or remove it.');
      }
      for (const member of Object.values(value) as unknown[]) if (isObject(member)) next.push(member);
    }
    level = next;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
