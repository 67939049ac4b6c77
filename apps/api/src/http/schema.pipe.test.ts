import { InvalidRequestError } from '#libs/core';
import { conversationIdSchema, putConversationSchema, putToolsetSchema } from '#libs/contracts';
import type { ArgumentMetadata } from '@nestjs/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pointer } from './faults.js';
import { NamePipe, SchemaPipe } from './schema.pipe.js';

const pipe = new SchemaPipe();

function refusal(value: unknown, schema: z.ZodType, type: ArgumentMetadata['type'] = 'body'): InvalidRequestError {
  try {
    pipe.transform(value, { type, schema });
  } catch (error) {
    if (error instanceof InvalidRequestError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const faultsOf = (value: unknown, schema: z.ZodType) => refusal(value, schema).faults;

describe('SchemaPipe', () => {
  it('gives what the schema makes of a value', () => {
    expect(pipe.transform('3', { type: 'query', schema: z.coerce.number() })).toBe(3);
    expect(pipe.transform('3', { type: 'custom' })).toBe('3');
  });

  it('points at each fault and says what was given', () => {
    const faults = faultsOf({ kind: 'group', model: 5, settings: { cpuLimitMs: 0 } }, putConversationSchema);
    expect(faults).toEqual([
      { pointer: '/kind', detail: 'must be one of "direct", "room", not "group"' },
      { pointer: '/model', detail: 'must be a string, not 5' },
      { pointer: '/settings/cpuLimitMs', detail: 'is too small: at least 1 in value, not 0' },
    ]);
  });

  it('names unknown fields, also those that objects inherit', () => {
    const body = JSON.parse('{"kind":"direct","constructor":1,"a/b~c":2}') as unknown;
    expect(faultsOf(body, putConversationSchema).map(({ pointer: at }) => at)).toEqual(['/constructor', '/a~1b~0c']);
  });

  it('names missing fields', () => {
    expect(faultsOf({}, putConversationSchema)).toEqual([{ pointer: '/kind', detail: 'is missing' }]);
  });

  it('names the kinds of a union', () => {
    const tool = { name: 'a', description: '', inputSchema: {}, exposure: 'core', delivery: { kind: 'pigeon' } };
    expect(faultsOf({ tools: [tool] }, putToolsetSchema)).toEqual([
      { pointer: '/tools/0/delivery/kind', detail: 'must be one of "client", "http", "builtin", not "pigeon"' },
    ]);
  });

  it('tells of a body that is not there', () => {
    expect(refusal(undefined, putConversationSchema).message).toContain('no body');
  });

  it('stays short whatever is sent', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}${'x'.repeat(1_000)}`, i]));
    const error = refusal({ kind: 'y'.repeat(100_000), ...many }, putConversationSchema);
    expect(JSON.stringify(error.faults).length + error.message.length).toBeLessThan(100_000);
    expect(error.faults.length).toBeLessThanOrEqual(100);
  });

  it('leads a path to nothing when no name looks like that', () => {
    expect(() => pipe.transform('a b', { type: 'param', schema: conversationIdSchema, data: 'c' })).toThrow(
      expect.objectContaining({ code: 'not_found' }),
    );
  });

  it('tells the faults of a query in words', () => {
    const error = refusal({ limit: '0', nope: '1' }, z.strictObject({ limit: z.coerce.number().min(1) }), 'query');
    expect(error.message).toContain('/limit is too small');
    expect(error.faults).toEqual([]);
  });

  it('never fails otherwise, whatever JSON it gets', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const schema = putToolsetSchema;
        try {
          pipe.transform({ tools: [value] }, { type: 'body', schema });
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError);
        }
      }),
    );
  });
});

describe('NamePipe', () => {
  it('refuses a name that cannot be given', () => {
    const names = new NamePipe(conversationIdSchema);
    expect(names.transform('a-b.c:d_e')).toBe('a-b.c:d_e');
    for (const name of ['.', '..', 'a b', '\0', 'x'.repeat(129), '']) {
      expect(() => names.transform(name)).toThrow(InvalidRequestError);
    }
  });
});

describe('pointer', () => {
  it('escapes what has a meaning in pointers', () => {
    expect(pointer([])).toBe('');
    expect(pointer(['a', 0, 'b/c', '~', ''])).toBe('/a/0/b~1c/~0/');
  });
});
