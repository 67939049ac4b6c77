import { Unfolding } from './unfolding.js';

type Json = Readonly<Record<string, unknown>>;

const UNKNOWN = 'unknown';
const NAME = /^[A-Za-z_$][\w$]*$/;
/** What would end a `//` comment, and other characters that are not seen. */
const LINE_BREAKS = /[\p{Cc}\u2028\u2029]+/gu;
const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * A JSON Schema as a TypeScript type (spec: tools, Declarations). One line, but for objects that describe their
 * properties. What a schema may cost is limited (see {@link Unfolding}); the rest of a larger one is `unknown`.
 */
export function schemaType(schema: unknown): string {
  return typeOf(schema, new Unfolding(schema), '');
}

/** A property's or a method's name in a type: quoted when it is no plain identifier. */
export function memberName(name: string): string {
  return NAME.test(name) ? name : JSON.stringify(name);
}

function typeOf(schema: unknown, unfolding: Unfolding, indent: string): string {
  if (schema === false) return 'never';
  if (!isRecord(schema)) return UNKNOWN;
  return unfolding.within(() => (unfolding.take(0) ? partsOf(schema, unfolding, indent) : UNKNOWN)) ?? UNKNOWN;
}

/** All that a schema says holds at once. */
function partsOf(schema: Json, unfolding: Unfolding, indent: string): string {
  const { $ref, allOf } = schema;
  const parts: string[] = [];
  if (typeof $ref === 'string') {
    parts.push(unfolding.follow($ref, (target) => typeOf(target, unfolding, indent)) ?? UNKNOWN);
  }
  parts.push(ownType(schema, unfolding, indent));
  for (const choice of [schema['anyOf'], schema['oneOf']]) {
    if (Array.isArray(choice)) parts.push(unionOf(choice.map((member) => typeOf(member, unfolding, indent))));
  }
  if (Array.isArray(allOf)) parts.push(...allOf.map((member) => typeOf(member, unfolding, indent)));
  const said = [...new Set(parts)].filter((part) => part !== UNKNOWN);
  if (said.includes('never')) return 'never';
  return said.length > 1 ? said.map((part) => `(${part})`).join(' & ') : (said[0] ?? UNKNOWN);
}

function ownType(schema: Json, unfolding: Unfolding, indent: string): string {
  if (Object.hasOwn(schema, 'const')) return literal(schema['const'], unfolding);
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map((value) => literal(value, unfolding)));
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type ?? impliedType(schema)];
  return unionOf(
    types.map((name) => {
      if (name === 'object') return objectType(schema, unfolding, indent);
      if (name === 'array') return arrayType(schema, unfolding, indent);
      return typeof name === 'string' && Object.hasOwn(PRIMITIVES, name) ? (PRIMITIVES[name] ?? UNKNOWN) : UNKNOWN;
    }),
  );
}

function impliedType(schema: Json): string | undefined {
  if (['properties', 'patternProperties', 'additionalProperties'].some((key) => Object.hasOwn(schema, key))) {
    return 'object';
  }
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems') ? 'array' : undefined;
}

function arrayType({ items, prefixItems }: Json, unfolding: Unfolding, indent: string): string {
  if (!Array.isArray(prefixItems)) return `Array<${typeOf(items, unfolding, indent)}>`;
  const members = prefixItems.map((item) => typeOf(item, unfolding, indent));
  if (items !== undefined && items !== false) members.push(`...Array<${typeOf(items, unfolding, indent)}>`);
  return `[${members.join(', ')}]`;
}

function objectType(schema: Json, unfolding: Unfolding, indent: string): string {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const given = Array.isArray(schema['required']) ? schema['required'] : [];
  const required = new Set(given.filter((name) => typeof name === 'string'));
  const names = [...new Set([...Object.keys(properties), ...required])].sort();
  const isDescribed = names.some((name) => Object.hasOwn(properties, name) && commentOn(properties[name]) !== '');
  const inner = isDescribed ? `${indent}  ` : indent;
  const members: string[] = [];
  for (const name of names) {
    if (!unfolding.take(name.length)) break;
    const property = Object.hasOwn(properties, name) ? properties[name] : true;
    const comment = commentOn(property);
    if (comment !== '' && unfolding.take(comment.length)) members.push(`// ${comment}`);
    members.push(`${memberName(name)}${required.has(name) ? '' : '?'}: ${typeOf(property, unfolding, inner)};`);
  }
  const others = otherMembers(schema, unfolding, inner);
  if (others !== undefined) members.push(`[key: string]: ${others};`);
  if (members.length === 0) return '{}';
  if (!isDescribed) return `{ ${members.join(' ').slice(0, -1)} }`;
  return `{\n${members.map((member) => `${inner}${member}\n`).join('')}${indent}}`;
}

/** The type of members that are not named. Undefined: there are none, or none worth a word. */
function otherMembers(schema: Json, unfolding: Unfolding, indent: string): string | undefined {
  const { additionalProperties, patternProperties, properties } = schema;
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : [];
  const isOpen = additionalProperties === undefined && patterns.length === 0 && !hasMembers(properties);
  const kinds = [...patterns, ...(isOpen ? [true] : []), additionalProperties].filter(
    (kind) => kind !== undefined && kind !== false,
  );
  return kinds.length === 0 ? undefined : unionOf(kinds.map((kind) => typeOf(kind, unfolding, indent)));
}

function commentOn(property: unknown): string {
  const description = isRecord(property) ? property['description'] : undefined;
  return typeof description === 'string' ? description.replace(LINE_BREAKS, ' ').replaceAll('*/', '* /').trim() : '';
}

function literal(value: unknown, unfolding: Unfolding): string {
  if (typeof value === 'string') return unfolding.take(value.length) ? JSON.stringify(value) : 'string';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
  if (value === null || typeof value === 'boolean') return String(value);
  const text = unfolding.within(() => (unfolding.take(0) ? compound(value, unfolding) : UNKNOWN));
  return text ?? UNKNOWN;
}

function compound(value: unknown, unfolding: Unfolding): string {
  if (Array.isArray(value)) return `[${value.map((member) => literal(member, unfolding)).join(', ')}]`;
  if (!isRecord(value) || !hasMembers(value)) return '{}';
  const members = Object.keys(value).map((name) => `${memberName(name)}: ${literal(value[name], unfolding)}`);
  return `{ ${members.join('; ')} }`;
}

function unionOf(members: readonly string[]): string {
  if (members.includes(UNKNOWN)) return UNKNOWN;
  const possible = [...new Set(members)].filter((member) => member !== 'never');
  return possible.length === 0 ? 'never' : possible.join(' | ');
}

function hasMembers(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
