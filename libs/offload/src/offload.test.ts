import { formatResult, type FormatInput, type FormattedResult, PackedView, packView } from '#libs/script';
import { afterAll, describe, expect, test } from 'vitest';
import { createOffload } from './offload.js';
import { threadFile } from './thread-file.js';

const offload = createOffload({ threads: 2 });
afterAll(() => offload[Symbol.asyncDispose]());

function output(items: FormatInput['items']): FormatInput {
  return { dialect: 'codemode', state: 'completed', cellId: 'c_0123456789ABCDEF', wallMs: 12, maxTokens: 100, items };
}

/** Bytes are compared as one text: one by one they take seconds. */
function comparable({ content, fullText }: FormattedResult): object {
  return {
    content,
    artifactId: fullText?.artifactId,
    text: fullText && Buffer.from(fullText.bytes).toString('latin1'),
  };
}

describe('formatResult', () => {
  test.each([
    ['a small output', output([{ kind: 'text', text: 'hi' }])],
    ['a large one', output([{ kind: 'text', text: '\ud800\0€'.repeat(100_000) }])],
    ['many items', output(Array.from({ length: 20_000 }, (_, index) => ({ kind: 'console', text: `${index}` })))],
  ])('of %s gives what it gives in place', async (_what, input) => {
    expect(comparable(await offload.formatResult(input))).toEqual(comparable(formatResult(input)));
  });

  test('a fault in the thread reaches the caller, and the pool goes on', async () => {
    const items = [{ kind: 'smell', text: 'x'.repeat(100_000) }] as unknown as FormatInput['items'];
    await expect(offload.formatResult(output(items))).rejects.toThrow('Unknown kind');
    const sound = output([{ kind: 'text', text: 'x'.repeat(100_000) }]);
    expect(comparable(await offload.formatResult(sound))).toEqual(comparable(formatResult(sound)));
  });
});

describe('checkSchemas', () => {
  test('tells every fault by its own pointer, and nothing about sound schemas', async () => {
    const deep = JSON.parse('{"not":'.repeat(40) + '{}' + '}'.repeat(40)) as unknown;
    const faults = await offload.checkSchemas([
      { pointer: '/tools/0/inputSchema', schema: { type: 'object' }, describesObject: true },
      { pointer: '/tools/1/inputSchema', schema: { properties: { a: { pattern: '(' } } }, describesObject: true },
      { pointer: '/tools/2/inputSchema', schema: deep, describesObject: true },
      { pointer: '/tools/3/outputSchema', schema: { type: 'string' } },
      { pointer: '/tools/4/inputSchema', schema: { type: 'string' }, describesObject: true },
    ]);
    expect(faults.map((fault) => fault.pointer).sort()).toEqual([
      '/tools/1/inputSchema/properties/a/pattern',
      '/tools/2/inputSchema',
      '/tools/4/inputSchema/type',
    ]);
    expect(await offload.checkSchemas([])).toEqual([]);
  });

  test('schemas that take too long are given up, named, and do not stop the next request', async () => {
    await using impatient = createOffload({ threads: 1, schemaTimeoutMs: 200 });
    const member = (index: number): object => ({
      anyOf: [{ type: 'string' }, { type: 'object', minProperties: index }],
    });
    const properties = Object.fromEntries(Array.from({ length: 240 }, (_, index) => [`p${index}`, member(index)]));
    const schemas = Array.from({ length: 2_000 }, (_, index) => ({
      pointer: `/tools/${index}/inputSchema`,
      schema: { type: 'object', properties },
    }));
    const [fault, ...others] = await impatient.checkSchemas(schemas);
    expect(others).toEqual([]);
    expect(fault?.pointer).toMatch(/^\/tools\/\d+\/inputSchema$/);
    expect(fault?.detail).toContain('takes too long to check: all schemas together had 200 ms');
    expect(await impatient.checkSchemas([{ pointer: '', schema: { pattern: '(' } }])).toHaveLength(1);
  });
});

test('a thread that was not built says how to build', () => {
  expect(() => threadFile('format-thread', 'file:///nowhere/libs/offload/src/thread-file.ts')).toThrow(
    '/nowhere/dist/libs/offload/src/format-thread.js is not there: build first',
  );
  expect(threadFile('format-thread')).toMatch(/\/dist\/libs\/offload\/src\/format-thread\.js$/);
});

describe('checkArguments', () => {
  const schema = JSON.stringify({
    type: 'object',
    properties: { a: { type: 'number' }, 'b/~': { type: 'object', properties: { c: { enum: ['x', 1] } } } },
    required: ['a'],
    additionalProperties: false,
  });

  test.each<[args: string, fault: string | undefined]>([
    ['{"a":1}', undefined],
    ['{}', '/a is missing'],
    ['{"a":"1"}', '/a must be number'],
    ['{"a":1,"z":2}', '/z is not a known property'],
    ['{"a":1,"b/~":{"c":2}}', '/b~1~0/c must be one of ["x",1]'],
    ['[]', 'the value must be object'],
  ])('%s', async (args, fault) => expect(await offload.checkArguments(schema, args)).toBe(fault));

  test('a pattern that does not end is given up, and the next call is served', async () => {
    const evil = JSON.stringify({ properties: { a: { pattern: '^(x+x+)+y$' } } });
    const startedAt = performance.now();
    const args = JSON.stringify({ a: 'x'.repeat(40) });
    expect(await offload.checkArguments(evil, args)).toMatch(/takes too long .* a value has 50 ms/);
    expect(await offload.checkArguments(schema, '{"a":1}')).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('callValue', () => {
  const result = (more: object) => JSON.stringify({ result: { content: [], ...more } });

  test('small and large results without a schema give what they give in place', async () => {
    for (const text of ['hi', '\ud800\0€'.repeat(100_000)]) {
      const posted = result({ content: [{ type: 'text', text }] });
      const value = await offload.callValue({ identifier: 't', outputSchema: undefined, result: posted });
      expect(value).toEqual({ ok: true, json: JSON.stringify(text) });
    }
  });

  test('structured values are checked against the output schema', async () => {
    const call = { identifier: 't', outputSchema: JSON.stringify({ properties: { sum: { type: 'number' } } }) };
    const good = await offload.callValue({ ...call, result: result({ structuredContent: { sum: 5 } }) });
    expect(good).toEqual({ ok: true, json: '{"sum":5}' });
    const bad = await offload.callValue({ ...call, result: result({ structuredContent: { sum: '5' } }) });
    expect(bad).toMatchObject({ ok: false, message: expect.stringContaining('/sum must be number') });
  });
});

describe('packView', () => {
  test.each([1, 2_000])('of %d tools gives what it gives in place', async (count) => {
    const tools = Array.from({ length: count }, (_, index) => ({
      name: `tool-${index}`,
      description: 'Größe\0\ud800',
      inputSchema: { type: 'object' },
      exposure: 'core',
      delivery: { kind: 'client' },
    }));
    const toolsets = [{ toolset: 'kit', text: JSON.stringify({ tools }) }];
    const [packed, inPlace] = [await offload.packView(toolsets), packView(toolsets)].map(
      (memory) => new PackedView(memory),
    );
    expect(packed?.names()).toEqual(inPlace?.names());
    expect(packed?.tool(count - 1)).toEqual(inPlace?.tool(count - 1));
  });
});
