/** A schema object within a schema, and where it is. */
export interface Subschema {
  /** RFC 6901 pointer. */
  pointer: string;
  schema: Readonly<Record<string, unknown>>;
}

/** Keywords of JSON Schema 2020-12 by what they hold; everything else is data and is not looked into. */
const ONE = [
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAP = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

/** All schema objects of a schema, itself first. Property names and data that look like keywords are left alone. */
export function* subschemas(schema: unknown, pointer: string): Generator<Subschema> {
  if (!isRecord(schema)) return;
  yield { pointer, schema };
  for (const keyword of ONE) {
    if (Object.hasOwn(schema, keyword)) yield* subschemas(schema[keyword], `${pointer}/${keyword}`);
  }
  for (const keyword of LIST) {
    const list = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (!Array.isArray(list)) continue;
    for (const [index, member] of list.entries()) yield* subschemas(member, `${pointer}/${keyword}/${index}`);
  }
  for (const keyword of MAP) {
    const map = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (!isRecord(map)) continue;
    for (const [name, member] of Object.entries(map)) {
      yield* subschemas(member, `${pointer}/${keyword}/${pointerToken(name)}`);
    }
  }
}

/** A name as one step of an RFC 6901 pointer. */
export function pointerToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
