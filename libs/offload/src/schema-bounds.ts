import { limits } from '#libs/core';

/**
 * What is too large about a JSON value that should become a schema, or undefined. Cheap enough for a main thread:
 * it stops at the first limit, and needs no recursion, which a deep value would break.
 */
export function exceededBound(schema: unknown): string | undefined {
  const stack: { value: unknown; depth: number }[] = [{ value: schema, depth: 1 }];
  let nodes = 0;
  let atLeastBytes = 0;
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { value, depth } = entry;
    atLeastBytes += typeof value === 'string' ? value.length + 2 : 1;
    if (atLeastBytes > limits.schemaBytes) return tooLarge();
    if (typeof value !== 'object' || value === null) continue;
    nodes += 1;
    if (nodes > limits.schemaNodes) return `has more than ${limits.schemaNodes} objects and arrays`;
    if (depth > limits.schemaDepth) return `is nested more than ${limits.schemaDepth} deep`;
    if (Array.isArray(value)) {
      if (value.length > limits.schemaBytes) return tooLarge();
      for (const member of value as unknown[]) stack.push({ value: member, depth: depth + 1 });
      continue;
    }
    for (const [name, member] of Object.entries(value)) {
      atLeastBytes += name.length + 3;
      stack.push({ value: member, depth: depth + 1 });
    }
  }
  return Buffer.byteLength(JSON.stringify(schema) ?? '') > limits.schemaBytes ? tooLarge() : undefined;
}

function tooLarge(): string {
  return `has more than ${limits.schemaBytes} bytes of JSON`;
}
