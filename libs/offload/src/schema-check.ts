import type { Fault } from '#libs/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pointerToken, subschemas, type Subschema } from './subschemas.js';

/** A JSON Schema of a tool, and where it stands in the request. */
export interface SchemaToCheck {
  /** RFC 6901 pointer to the schema; pointers of faults continue it. */
  pointer: string;
  schema: unknown;
  /** Whether the schema must describe an object, as that of a tool's arguments must. */
  describesObject?: boolean;
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const SHOWN_CHARS = 100;

const ajv = new Ajv2020({
  strict: false,
  // An unknown format is a remark to the reader.
  validateFormats: false,
  // References compile once instead of being copied to every place.
  inlineRefs: false,
  addUsedSchema: false,
  // The code is thrown away, so it need not be fast.
  code: { optimize: false },
  logger: false,
});

/**
 * Whether a schema is valid JSON Schema 2020-12, stands on its own, and compiles. To be run where it may be killed:
 * a schema is compiled to code. Bounds of size are checked before.
 */
export function checkSchema({ pointer, schema, describesObject = false }: SchemaToCheck): Fault[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    const accepted = !describesObject && typeof schema === 'boolean';
    return accepted
      ? []
      : [{ pointer, detail: `must be a JSON Schema object, but is ${shorten(JSON.stringify(schema))}` }];
  }
  const all = [...subschemas(schema, pointer)];
  const foreign = all.flatMap(foreignDialect);
  if (foreign.length > 0) return foreign;
  if (!ajv.validateSchema(schema)) {
    const error = ajv.errors?.[0];
    return [{ pointer: pointer + (error?.instancePath ?? ''), detail: error?.message ?? 'is not a valid JSON Schema' }];
  }
  const faults = all.flatMap((part) => [...remoteReferences(part), ...brokenPatterns(part)]);
  if (describesObject && !allowsObject(schema)) {
    faults.push({ pointer: `${pointer}/type`, detail: 'must be "object": arguments are always one object' });
  }
  return faults.length > 0 ? faults : compile(schema, pointer, all);
}

function foreignDialect({ pointer, schema }: Subschema): Fault[] {
  const dialect = Object.hasOwn(schema, '$schema') ? schema.$schema : undefined;
  if (dialect === undefined || (typeof dialect === 'string' && dialect.replace(/#$/, '') === DIALECT)) return [];
  const detail = `must be "${DIALECT}" or left out, but is ${shorten(JSON.stringify(dialect))}`;
  return [{ pointer: `${pointer}/$schema`, detail }];
}

function remoteReferences({ pointer, schema }: Subschema): Fault[] {
  const faults: Fault[] = [];
  for (const keyword of ['$ref', '$dynamicRef']) {
    const target = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (typeof target !== 'string' || target.startsWith('#')) continue;
    const detail = `must point into this schema (#/...), but is ${shorten(JSON.stringify(target))}`;
    faults.push({ pointer: `${pointer}/${keyword}`, detail });
  }
  return faults;
}

function brokenPatterns({ pointer, schema }: Subschema): Fault[] {
  const faults: Fault[] = [];
  const check = (pattern: string, at: string): void => {
    try {
      new RegExp(pattern, 'u');
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      faults.push({ pointer: at, detail: `is not a regular expression: ${shorten(why)}` });
    }
  };
  if (Object.hasOwn(schema, 'pattern')) check(String(schema.pattern), `${pointer}/pattern`);
  if (Object.hasOwn(schema, 'patternProperties')) {
    for (const pattern of Object.keys(Object(schema.patternProperties))) {
      check(pattern, `${pointer}/patternProperties/${pointerToken(pattern)}`);
    }
  }
  return faults;
}

function allowsObject(schema: object): boolean {
  const type = 'type' in schema ? schema.type : undefined;
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function compile(schema: object, pointer: string, parts: readonly Subschema[]): Fault[] {
  try {
    ajv.compile(schema);
    return [];
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const missing = thrown instanceof Ajv2020.MissingRefError ? thrown.missingRef : undefined;
    const part = parts.find(({ schema: { $ref } }) => missing !== undefined && $ref === missing);
    if (part === undefined) return [{ pointer, detail: `cannot be used: ${shorten(message)}` }];
    const detail = `points at nothing: ${shorten(JSON.stringify(missing))}`;
    return [{ pointer: `${part.pointer}/$ref`, detail }];
  } finally {
    // The cache would grow with every schema that was ever seen.
    ajv.removeSchema(schema);
  }
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : text;
}
