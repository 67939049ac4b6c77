import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNameFaults, refusedIdentifiers, toIdentifier, toolIdentifier } from './identifiers.js';

describe('toIdentifier', () => {
  test.each([
    ['echo', 'echo'],
    ['my-tool', 'my_tool'],
    ['mcp__dev-docs__search', 'mcp__dev_docs__search'],
    ['a.b/c d', 'a_b_c_d'],
    ['1st', '_st'],
    ['a1', 'a1'],
    ['$x_', '$x_'],
    ['größe', 'größe'],
    ['工具', '工具'],
    ['😀', '_'],
    ['\u0301x', '_x'],
    ['\ud800', '_'],
    ['-', '_'],
  ])('%j -> %j', (name, identifier) => {
    expect(toIdentifier(name)).toBe(identifier);
  });

  test('gives what the language takes as an identifier, one character per character, and is stable', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (name) => {
        const identifier = toIdentifier(name);
        // A member access takes reserved words too, which a declaration would not.
        expect(() => new Function(`return this.${identifier}`)).not.toThrow();
        expect([...identifier]).toHaveLength([...name].length);
        expect(toIdentifier(identifier)).toBe(identifier);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a namespace goes before the name; only the first character of both together is a first one', () => {
  expect(toolIdentifier({ name: 'my-tool', namespace: 'kit' })).toBe('kit__my_tool');
  expect(toolIdentifier({ name: '1st', namespace: 'kit' })).toBe('kit__1st');
  expect(toolIdentifier({ name: 'search', namespace: 'mcp__dev-docs' })).toBe('mcp__dev_docs__search');
  expect(toolIdentifier({ name: 'echo', namespace: undefined })).toBe('echo');
});

describe('findNameFaults', () => {
  test('names both sides of a collision', () => {
    const tools = [{ name: 'a-b' }, { name: 'c' }, { name: 'a_b' }, { name: 'b', namespace: 'a' }, { name: 'a__b' }];
    expect(findNameFaults(tools)).toEqual([
      { kind: 'collision', identifier: 'a_b', first: 0, second: 2 },
      { kind: 'collision', identifier: 'a__b', first: 3, second: 4 },
    ]);
  });

  test.each([...refusedIdentifiers])('refuses %s', (name) => {
    expect(findNameFaults([{ name: 'fine' }, { name }])).toEqual([{ kind: 'refused', identifier: name, index: 1 }]);
    expect(findNameFaults([{ name, namespace: 'kit' }])).toEqual([]);
  });

  test('refuses what only becomes such a name', () => {
    expect(findNameFaults([{ name: 'tool-search' }, { name: '--proto--' }])).toEqual([
      { kind: 'refused', identifier: 'tool_search', index: 0 },
      { kind: 'refused', identifier: '__proto__', index: 1 },
    ]);
  });

  test('finds a fault exactly when identifiers repeat', () => {
    const name = fc.stringMatching(/^[ab._-]{1,3}$/);
    fc.assert(
      fc.property(
        fc.array(fc.record({ name, namespace: fc.option(name, { nil: undefined }) }), { maxLength: 6 }),
        (tools) => {
          const distinct = new Set(tools.map(toolIdentifier)).size;
          expect(findNameFaults(tools)).toHaveLength(tools.length - distinct);
        },
      ),
    );
  });
});
