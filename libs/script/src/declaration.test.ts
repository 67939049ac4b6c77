import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { declaration, toolDescription } from './declaration.js';
import { schemaType } from './schema-type.js';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, v: { type: 'integer' } } };

describe('schemaType', () => {
  it.each<[schema: unknown, type: string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'number', minimum: 1 }, 'number'],
    [{ type: ['string', 'null', 'string'] }, 'string | null'],
    [{ type: ['integer', 'number'] }, 'number'],
    [{ type: 'money' }, 'unknown'],
    [{ type: 'toString' }, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ const: 'a"\n*/' }, '"a\\"\\n*/"'],
    [{ type: 'string', enum: ['a', -1, true, null, 'a'] }, '"a" | -1 | true | null'],
    [{ const: { b: [1, { c: {} }], 'd-': [] } }, '{ b: [1, { c: {} }]; "d-": [] }'],
    [{ enum: [] }, 'never'],
    [JSON.parse('{"const":1e999}'), 'number'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }, false] }, 'string | null'],
    [{ anyOf: [{ type: 'string' }, true] }, 'unknown'],
    [{ allOf: [{ type: 'string' }, { type: ['string', 'null'] }] }, '(string) & (string | null)'],
    [{ allOf: [{ type: 'string' }, { minLength: 1 }] }, 'string'],
    [{ allOf: [{ type: 'string' }, false] }, 'never'],
    [object({ a: {} }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }), '{ a?: unknown }'],
    [
      { type: 'object', properties: { a: true }, oneOf: [object({ b: true })] },
      '({ a?: unknown }) & ({ b?: unknown })',
    ],
    [{ type: 'array' }, 'Array<unknown>'],
    [{ items: { type: ['string', 'null'] } }, 'Array<string | null>'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, {}], items: false }, '[string, unknown]'],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, '[string, ...Array<number>]'],
    [{ type: 'object' }, '{ [key: string]: unknown }'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [object({ a: {} }, { additionalProperties: true }), '{ a?: unknown; [key: string]: unknown }'],
    [{ type: 'object', patternProperties: { '^x': { type: 'number' } } }, '{ [key: string]: number }'],
    [
      object({ b: { type: 'string' }, a: { type: 'number' }, 'c-d': {} }, { required: ['b', 'e', 5] }),
      '{ a?: number; b: string; "c-d"?: unknown; e: unknown }',
    ],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), '{ __proto__?: string }'],
    [{ $ref: '#/$defs/x~1y%20z', $defs: { 'x/y z': { type: 'string' } } }, 'string'],
    [{ $ref: '#/$defs/missing' }, 'unknown'],
    [{ $ref: '#/toString' }, 'unknown'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: '#%' }, 'unknown'],
    [
      object(
        { a: { $ref: '#/$defs/s' }, b: { $ref: '#/$defs/s' }, c: { $ref: '#/$defs/s' } },
        { $defs: { s: { type: 'string' } } },
      ),
      '{ a?: string; b?: string; c?: string }',
    ],
    [{ $ref: '#/$defs/node', $defs: { node } }, '{ next?: { next?: unknown; v?: number }; v?: number }'],
    [{ type: 'array', items: { $ref: '#' } }, 'Array<Array<Array<unknown>>>'],
  ])('%j is %s', (schema, type) => expect(schemaType(schema)).toBe(type));

  it('puts described properties on lines of their own', () => {
    const schema = object(
      {
        city: { type: 'string', description: ' The city.\r\nNot */ the\u2028country. ' },
        options: object({ days: { type: 'integer', description: 'At most 7' }, unit: {} }),
        plain: object({ x: {} }),
      },
      { required: ['city'], additionalProperties: { type: 'null' } },
    );
    expect(schemaType(schema)).toBe(`{
  // The city. Not * / the country.
  city: string;
  options?: {
    // At most 7
    days?: number;
    unit?: unknown;
  };
  plain?: { x?: unknown };
  [key: string]: null;
}`);
  });

  it('is bounded, whatever a schema multiplies', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => {
        const next = Array.from({ length: 9 }, (_unused, n) => [`p${n}`, { $ref: `#/$defs/d${i + 1}` }]);
        return [`d${i}`, object({ ...Object.fromEntries(next), long: { description: 'x'.repeat(2_000) } })];
      }),
    );
    const schema = { $ref: '#/$defs/d0', $defs };
    const type = schemaType(schema);
    expect(type).toContain('unknown');
    expect(type.length).toBeLessThan(4 * JSON.stringify(schema).length);
    const deep = JSON.parse('{"items":'.repeat(200) + '{}' + '}'.repeat(200)) as unknown;
    expect(schemaType(deep)).toMatch(/^(Array<){64}unknown>{64}$/);
  });
});

describe('declaration', () => {
  const tool = { identifier: 'kit__add', description: 'Adds.', inputSchemaText: '{"type":"object"}' };

  it.each<[what: string, more: object, text: string]>([
    ['no schema', {}, 'kit__add(args?: { [key: string]: unknown }): Promise<string | ImageBlock>'],
    [
      'both schemas',
      {
        inputSchemaText: '{"properties":{"a":{"type":"number"}},"required":["a"]}',
        outputSchemaText: '{"type":"number"}',
      },
      'kit__add(args: { a: number }): Promise<number>',
    ],
    [
      'a choice',
      { inputSchemaText: '{"anyOf":[{"required":["a"]}]}' },
      'kit__add(args: unknown): Promise<string | ImageBlock>',
    ],
    ['new', { identifier: 'new', inputSchemaText: 'true' }, '"new"(args: unknown): Promise<string | ImageBlock>'],
    [
      'another script',
      { identifier: 'größe', inputSchemaText: 'true' },
      '"größe"(args: unknown): Promise<string | ImageBlock>',
    ],
  ])('of a tool with %s', (_what, more, text) => {
    expect(declaration({ ...tool, ...more })).toBe(`declare const tools: { ${text}; };`);
  });

  it('follows the description and the guidelines', () => {
    const text = toolDescription({ ...tool, guidelines: ['Be kind.', 'Be brief.'] });
    expect(text.split('\n').slice(0, -1)).toEqual(['Adds.', 'Be kind.', 'Be brief.']);
    expect(text.split('\n').at(-1)).toBe(declaration(tool));
    expect(toolDescription({ ...tool, description: '' })).toBe(declaration(tool));
  });

  const evil = fc.oneof(
    fc.constantFrom(
      '*/',
      'x\n} evil(): void; {',
      'x\u2028y',
      'x\ry',
      '`${1}`',
      '"',
      "'",
      '//',
      '\\',
      '\0',
      '\ud800',
      '__proto__',
    ),
    fc.string({ unit: 'binary' }),
  );
  const { schema: anySchema } = fc.letrec((tie) => ({
    schema: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.boolean(), tie('leaf'), tie('object'), tie('list')),
    leaf: fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'integer', 'null', 'object', 'array'), description: evil }),
      fc.record({ enum: fc.array(fc.oneof(evil, fc.double(), fc.jsonValue()), { maxLength: 3 }), description: evil }),
      fc.record({ const: fc.jsonValue() }),
      fc.record({ $ref: fc.oneof(fc.constantFrom('#', '#/properties/a', '#/items'), evil) }),
    ),
    object: fc.record({
      properties: fc.dictionary(fc.oneof(evil, fc.constant('a')), tie('schema'), { maxKeys: 4 }),
      required: fc.array(evil, { maxLength: 2 }),
      description: evil,
      additionalProperties: fc.option(tie('schema'), { nil: false }),
    }),
    list: fc.oneof(
      fc.record({ items: tie('schema') }),
      fc.record({ prefixItems: fc.array(tie('schema'), { maxLength: 3 }), items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }), type: fc.constantFrom('object', 'string') }),
      fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    ),
  }));
  const identifier = fc.constantFrom('a', 'new', 'get', 'delete', '$', 'größe', 'constructor', 'async', 'readonly');

  it('is one declaration of one method, whatever stands in the schemas', () => {
    fc.assert(
      fc.property(identifier, anySchema, anySchema, (name, input, output) => {
        const schemas = { inputSchemaText: JSON.stringify(input), outputSchemaText: JSON.stringify(output) };
        const text = declaration({ identifier: name, description: '', ...schemas });
        const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
        expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
        const [statement, ...others] = ts.createSourceFile('t.ts', text, ts.ScriptTarget.Latest).statements;
        expect(others).toEqual([]);
        if (statement === undefined || !ts.isVariableStatement(statement)) throw new Error('not one variable');
        const { type } = statement.declarationList.declarations[0] ?? {};
        if (type === undefined || !ts.isTypeLiteralNode(type)) throw new Error('not one type');
        const [method, ...more] = type.members;
        expect(more).toEqual([]);
        if (method === undefined || !ts.isMethodSignature(method)) throw new Error('not one method');
        expect((method.name as ts.Identifier).text).toBe(name);
        const args = method.parameters[0]?.type;
        const isObject = typeof input === 'object' && 'properties' in (input as object);
        if (isObject && args && ts.isTypeLiteralNode(args)) {
          const schema = input as { properties: object; required: string[] };
          const names = new Set([...Object.keys(schema.properties), ...schema.required]);
          const written = args.members.flatMap((member) =>
            ts.isPropertySignature(member) ? [(member.name as ts.Identifier).text] : [],
          );
          expect(new Set(written)).toEqual(names);
        }
      }),
      { numRuns: 500 },
    );
  });
});
