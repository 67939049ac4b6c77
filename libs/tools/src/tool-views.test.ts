import type { PutToolset } from '#libs/contracts';
import { createOffload } from '#libs/offload';
import { PackedView } from '#libs/script';
import { afterAll, describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';
import { ToolViews } from './tool-views.js';
import { type ViewBinding, viewOf } from './view-document.js';

const tool = (name: string, more: object = {}) => ({
  name,
  description: `${name}.`,
  inputSchema: { type: 'object' },
  exposure: 'core' as const,
  delivery: { kind: 'client' as const },
  ...more,
});

/** A tenant's toolsets and one view, in memory; counts what is read. */
function storeOf(toolsets: Record<string, PutToolset>, bindings: ViewBinding[]) {
  const view = viewOf(bindings);
  const reads: string[] = [];
  return {
    hash: view?.hash ?? '',
    reads,
    readView: (tenantId: string, hash: string) => {
      reads.push(`view of ${tenantId}`);
      return Promise.resolve(tenantId === 't' && hash === view?.hash ? view.document : undefined);
    },
    readToolset: (tenantId: string, name: string, version: number) => {
      reads.push(`${name}@${version}`);
      const toolset = tenantId === 't' && version === 1 ? toolsets[name] : undefined;
      return Promise.resolve(toolset && JSON.stringify(toolset));
    },
  };
}

const offload = createOffload({ threads: 1 });
afterAll(() => offload[Symbol.asyncDispose]());

const namesOf = async (views: ToolViews, hash: string, memberId: string | null) =>
  new PackedView((await views.find('t', hash, memberId)).program.memory).names();
const identifiers = async (...given: Parameters<typeof namesOf>) =>
  (await namesOf(...given)).tools.map(({ identifier }) => identifier);

describe('viewOf', () => {
  it('has one hash for one content, and none for nothing', () => {
    const one = viewOf([{ toolset: 'a', version: 1, memberIds: ['bob', 'ann', 'bob'] }]);
    expect(viewOf([{ version: 1, memberIds: ['ann', 'bob'], toolset: 'a', exposure: undefined }])).toEqual(one);
    expect(viewOf([{ toolset: 'a', version: 2, memberIds: ['ann', 'bob'] }])?.hash).not.toBe(one?.hash);
    expect(viewOf([{ toolset: 'a', version: 1 }])?.hash).not.toBe(one?.hash);
    expect(viewOf([])).toBeUndefined();
  });
});

describe('ToolViews', () => {
  const toolsets = {
    kit: {
      tools: [
        tool('my-tool', { namespace: 'kit', guidelines: ['Be kind.'] }),
        tool('hidden', { exposure: 'model-only' }),
      ],
    },
    own: { tools: [tool('secret', { outputSchema: { type: 'object' } })] },
  };

  it('shows each member the tools that are bound for them', async () => {
    const store = storeOf(toolsets, [
      { toolset: 'kit', version: 1 },
      { toolset: 'own', version: 1, memberIds: ['ann'] },
    ]);
    const views = new ToolViews(store, offload);
    expect(await identifiers(views, store.hash, 'ann')).toEqual(['kit__my_tool', 'secret']);
    expect(await identifiers(views, store.hash, 'bob')).toEqual(['kit__my_tool']);
    expect(await identifiers(views, store.hash, null)).toEqual(['kit__my_tool']);
  });

  it('finds a tool by its identifier', async () => {
    const store = storeOf(toolsets, [{ toolset: 'kit', version: 1 }]);
    const view = await new ToolViews(store, offload).find('t', store.hash, null);
    expect(view.find('kit__my_tool')).toMatchObject({
      identifier: 'kit__my_tool',
      name: 'my-tool',
      namespace: 'kit',
      toolset: 'kit',
      guidelines: ['Be kind.'],
      delivery: { kind: 'client' },
      inputSchemaText: '{"type":"object"}',
    });
    expect(view.find('kit__my_tool')).toBe(view.find('kit__my_tool'));
    expect(['my-tool', 'hidden', 'toString'].map((name) => view.find(name))).toEqual([undefined, undefined, undefined]);
  });

  it('keeps the names of tools for the model alone', async () => {
    const store = storeOf(toolsets, [{ toolset: 'kit', version: 1 }]);
    const { modelOnly } = await namesOf(new ToolViews(store, offload), store.hash, null);
    expect(modelOnly).toEqual([{ identifier: 'hidden', name: 'hidden' }]);
  });

  it('lets a binding change the exposure of all its tools', async () => {
    const store = storeOf(toolsets, [
      { toolset: 'kit', version: 1, exposure: 'deferred' },
      { toolset: 'own', version: 1, exposure: 'model-only' },
    ]);
    expect(await identifiers(new ToolViews(store, offload), store.hash, null)).toEqual(['kit__my_tool', 'hidden']);
  });

  it('reads once for many, and is one object for those who see the same', async () => {
    const store = storeOf(toolsets, [{ toolset: 'kit', version: 1 }]);
    const views = new ToolViews(store, offload);
    const all = await Promise.all(['ann', 'bob', null].map((member) => views.find('t', store.hash, member)));
    expect(new Set(all).size).toBe(1);
    expect(store.reads).toEqual(['view of t', 'kit@1']);
  });

  it('finds nothing of another tenant, and tries again after a failure', async () => {
    const store = storeOf(toolsets, [{ toolset: 'kit', version: 1 }]);
    const views = new ToolViews(store, offload);
    await expect(views.find('t2', store.hash, null)).rejects.toThrow('not there');
    await expect(views.find('t2', store.hash, null)).rejects.toThrow('not there');
    expect(store.reads).toEqual(['view of t2', 'view of t2']);
  });
});

describe('canonicalJson', () => {
  it.each<[what: string, a: unknown, b: unknown]>([
    [
      'the order of members',
      { a: 1, b: { d: [1, { x: 1, y: 2 }], c: 2 } },
      { b: { c: 2, d: [1, { y: 2, x: 1 }] }, a: 1 },
    ],
    ['numbers as names', { 10: 1, 9: 2 }, { 9: 2, 10: 1 }],
  ])('does not see %s', (_what, a, b) => expect(canonicalJson(a)).toBe(canonicalJson(b)));

  it('sees the order of arrays and keeps every character', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(JSON.parse(canonicalJson({ '\ud800': '\0', toString: 1 }))).toEqual({ '\ud800': '\0', toString: 1 });
  });
});
