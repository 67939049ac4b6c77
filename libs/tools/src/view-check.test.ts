import { ToolNameCollisionError } from '#libs/core';
import { refusedIdentifiers, toolIdentifier } from '#libs/script';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BoundTools, checkViews } from './view-check.js';

const set = (toolset: string, names: string[], memberIds?: string[]): BoundTools => ({
  toolset,
  memberIds,
  tools: names.map((name) => ({ name })),
});

describe('checkViews', () => {
  it('lets different names stand together', () => {
    expect(() => checkViews([set('a', ['one']), set('b', ['two'], ['ann'])])).not.toThrow();
  });

  it('names both tools that would have one identifier', () => {
    expect(() => checkViews([set('a', ['my-tool']), set('b', ['my_tool'])])).toThrow(
      /"my-tool" of toolset a and "my_tool" of toolset b would both be tools\.my_tool/,
    );
  });

  it('keeps what different members see apart', () => {
    expect(() => checkViews([set('a', ['x'], ['ann']), set('b', ['x'], ['bob']), set('c', ['x'], [])])).not.toThrow();
    expect(() => checkViews([set('a', ['x'], ['ann']), set('b', ['x'], ['bob', 'ann'])])).toThrow(
      ToolNameCollisionError,
    );
    expect(() => checkViews([set('a', ['x'], ['ann']), set('b', ['x'])])).toThrow(ToolNameCollisionError);
  });

  it('lets a namespace tell tools apart', () => {
    const tools = [{ name: 'x', namespace: 'kit' }];
    expect(() => checkViews([set('a', ['x']), { toolset: 'b', tools }])).not.toThrow();
    expect(() => checkViews([set('a', ['kit__x']), { toolset: 'b', tools }])).toThrow(/namespace "kit"/);
  });

  it('says that a toolset is bound twice', () => {
    expect(() => checkViews([set('a', ['x']), set('a', ['x'], ['ann'])])).toThrow(/bound twice for the same writer/);
    expect(() => checkViews([set('a', ['x'], ['bob']), set('a', ['x'], ['ann'])])).not.toThrow();
  });

  it.each([...refusedIdentifiers])('refuses a tool named %s', (name) => {
    expect(() => checkViews([set('a', [name], ['ann'])])).toThrow(/meaning of its own/);
  });

  it('agrees with looking at each writer alone', () => {
    const member = fc.constantFrom('ann', 'bob', 'eve');
    const binding = fc.record({
      toolset: fc.constantFrom('a', 'b', 'c'),
      memberIds: fc.option(fc.uniqueArray(member), { nil: undefined }),
      tools: fc.array(fc.record({ name: fc.constantFrom('p', 'q', 'r-', 'r_', 's', 't') }), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(binding, { maxLength: 5 }), (bindings) => {
        const views = ['ann', 'bob', 'eve', 'somebody else'].map((writer) =>
          bindings
            .filter(({ memberIds }) => memberIds?.some((memberId) => memberId === writer) ?? true)
            .flatMap(({ tools }) => tools.map(toolIdentifier)),
        );
        const collides = views.some((view) => new Set(view).size < view.length);
        if (collides) expect(() => checkViews(bindings)).toThrow(ToolNameCollisionError);
        else expect(() => checkViews(bindings)).not.toThrow();
      }),
    );
  });

  it('takes many members and toolsets in its stride', () => {
    const members = (from: number) => Array.from({ length: 1_000 }, (_, i) => `member-${from + i}`);
    const bindings = Array.from({ length: 200 }, (_, i) => set(`set${i}`, ['same'], members(i * 1_000)));
    expect(() => checkViews(bindings)).not.toThrow();
    expect(() => checkViews([...bindings, set('last', ['same'], ['member-199999'])])).toThrow(/set199/);
  });
});
