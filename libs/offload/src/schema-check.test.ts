import { describe, expect, test } from 'vitest';
import { checkSchema } from './schema-check.js';
import { subschemas } from './subschemas.js';

const check = (schema: unknown): [pointer: string, detail: string][] =>
  checkSchema({ pointer: '/s', schema, describesObject: true }).map((fault) => [fault.pointer, fault.detail]);

describe('accepts', () => {
  test.each<[what: string, schema: unknown]>([
    ['nothing asked', {}],
    [
      'an object',
      { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: false },
    ],
    ['a list of types with object', { type: ['object', 'null'] }],
    ['the dialect named', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
    [
      'local references, recursive ones too',
      { $defs: { n: { properties: { next: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' },
    ],
    ['anchors', { $defs: { n: { $anchor: 'here', type: 'string' } }, properties: { a: { $ref: '#here' } } }],
    ['unknown keywords and formats', { properties: { a: { type: 'string', format: 'colour', example: 'red' } } }],
    [
      'properties named like keywords',
      { properties: { $ref: { type: 'string' }, pattern: { type: 'string' }, $schema: true } },
    ],
    [
      'data that looks like keywords',
      { default: { $ref: 'http://x/y', pattern: '(' }, enum: [{ $ref: 'x' }], const: { $schema: 1 } },
    ],
    ['a pattern that would be slow to match', { properties: { a: { pattern: '^(a+)+$' } } }],
  ])('%s', (_what, schema) => {
    expect(check(schema)).toEqual([]);
  });

  test('booleans, and other types, where no object is asked for', () => {
    expect(checkSchema({ pointer: '', schema: true })).toEqual([]);
    expect(checkSchema({ pointer: '', schema: { type: 'string' } })).toEqual([]);
  });

  test('the same $id again and again', () => {
    const schema = { $id: 'https://example.com/mine', type: 'object' };
    for (let round = 0; round < 3; round++) expect(check({ ...schema })).toEqual([]);
    expect(check(schema)).toEqual(check(schema));
  });
});

describe('refuses', () => {
  test.each<[schema: unknown, pointer: string, detail: RegExp]>([
    [null, '/s', /must be a JSON Schema object, but is null/],
    [[], '/s', /but is \[\]/],
    ['string', '/s', /but is "string"/],
    [true, '/s', /but is true/],
    [{ type: 'array' }, '/s/type', /must be "object"/],
    [{ type: 'thing' }, '/s/type', /must be/],
    [{ properties: { a: { minLength: -1 } } }, '/s/properties/a/minLength', /must be >= 0/],
    [{ required: 'a' }, '/s/required', /must be array/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '/s/$schema', /must be "https.*2020-12.*draft-07/],
    [
      { properties: { a: { $ref: 'https://example.com/x.json' } } },
      '/s/properties/a/$ref',
      /must point into this schema/,
    ],
    [{ allOf: [{ $dynamicRef: 'other.json#x' }] }, '/s/allOf/0/$dynamicRef', /must point into this schema/],
    [{ properties: { 'a/b~c': { $ref: '#/$defs/none' } } }, '/s/properties/a~1b~0c/$ref', /points at nothing/],
    [{ properties: { a: { pattern: '(' } } }, '/s/properties/a/pattern', /is not a regular expression/],
    [{ patternProperties: { '[': true } }, '/s/patternProperties/[', /is not a regular expression/],
    [{ $defs: { unused: { pattern: '(' } } }, '/s/$defs/unused/pattern', /is not a regular expression/],
  ])('%j', (schema, pointer, detail) => {
    const faults = check(schema);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.[0]).toBe(pointer);
    expect(faults[0]?.[1]).toMatch(detail);
  });

  test('one bad schema does not spoil the next', () => {
    expect(check({ $ref: '#/$defs/none' })).toHaveLength(1);
    expect(check({ type: 'object' })).toEqual([]);
  });

  test('details stay short', () => {
    const long = 'x'.repeat(10_000);
    for (const schema of [long, { $ref: long }, { pattern: `(${long}` }, { $schema: long }, { $ref: `#/${long}` }]) {
      expect(check(schema)[0]?.[1].length).toBeLessThan(300);
    }
  });
});

test('every place that holds a schema is looked into', () => {
  const leaf = { title: 'leaf' };
  const schema = {
    ...Object.fromEntries(
      ['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames', 'then'].map(
        (k) => [k, leaf],
      ),
    ),
    unevaluatedItems: leaf,
    unevaluatedProperties: leaf,
    ...Object.fromEntries(['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((k) => [k, [true, leaf]])),
    ...Object.fromEntries(
      ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'].map((k) => [k, { x: leaf }]),
    ),
    examples: [leaf],
    default: leaf,
  };
  const pointers = [...subschemas(schema, '')].map((part) => part.pointer);
  expect(pointers).toHaveLength(1 + 11 + 4 + 5);
  expect(pointers).toContain('/prefixItems/1');
  expect(pointers).toContain('/dependentSchemas/x');
});
