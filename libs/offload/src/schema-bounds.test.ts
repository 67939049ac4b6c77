import { limits } from '#libs/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exceededBound } from './schema-bounds.js';

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < depth; level++) value = { not: value };
  return value;
}

describe('exceededBound', () => {
  test.each<[what: string, schema: unknown, bound: RegExp | undefined]>([
    ['as deep as allowed', nested(limits.schemaDepth), undefined],
    ['one deeper', nested(limits.schemaDepth + 1), /nested more than 32 deep/],
    ['so deep that recursion would break', nested(200_000), /nested more than 32 deep/],
    ['as many nodes as allowed', { enum: Array.from({ length: limits.schemaNodes - 2 }, () => ({})) }, undefined],
    [
      'one more',
      { enum: Array.from({ length: limits.schemaNodes - 1 }, () => ({})) },
      /more than 1000 objects and arrays/,
    ],
    ['as large as allowed', { a: 'x'.repeat(limits.schemaBytes - '{"a":""}'.length) }, undefined],
    ['one byte more', { a: 'x'.repeat(limits.schemaBytes - '{"a":""}'.length + 1) }, /more than 65536 bytes/],
    ['large in bytes only', { a: '€'.repeat(30_000) }, /more than 65536 bytes/],
    ['large by escapes', { a: '\0'.repeat(12_000) }, /more than 65536 bytes/],
    ['a long list of primitives', { enum: new Array(1_000_000).fill(1) }, /more than 65536 bytes/],
    ['long names', { [`${'x'.repeat(70_000)}`]: 1 }, /more than 65536 bytes/],
    ['a primitive', 5, undefined],
  ])('%s', (_what, schema, bound) => {
    if (bound === undefined) expect(exceededBound(schema)).toBeUndefined();
    else expect(exceededBound(schema)).toMatch(bound);
  });

  test('small values are never refused', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(JSON.stringify(value).length < 1_000);
        expect(exceededBound(value)).toBeUndefined();
      }),
    );
  });
});
