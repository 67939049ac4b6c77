import { describe, expect, it } from 'vitest';
import { PackedView } from './packed-view.js';
import { packView, viewContent } from './view-content.js';

const tool = (name: string, more: object = {}) => ({
  name,
  description: `${name}.`,
  inputSchema: { type: 'object' },
  exposure: 'core',
  delivery: { kind: 'client' },
  ...more,
});
const bound = (toolset: string, tools: object[], more: object = {}) => ({
  toolset,
  text: JSON.stringify({ tools, ...more }),
});

describe('viewContent', () => {
  it('keeps what scripts call apart from what the model alone calls', () => {
    const kit = bound('kit', [
      tool('my-tool', { namespace: 'kit', sequential: true, outputSchema: false }),
      tool('subagent', { exposure: 'model-only', delivery: undefined }),
    ]);
    const { tools, modelOnly } = viewContent([kit, { ...bound('own', [tool('own')]), exposure: 'model-only' }]);
    expect(tools).toEqual([
      {
        identifier: 'kit__my_tool',
        name: 'my-tool',
        namespace: 'kit',
        toolset: 'kit',
        description: 'my-tool.',
        exposure: 'core',
        delivery: { kind: 'client' },
        sequential: true,
        inputSchemaText: '{"type":"object"}',
        outputSchemaText: 'false',
      },
    ]);
    expect(modelOnly.map(({ identifier }) => identifier)).toEqual(['subagent', 'own']);
  });

  it('takes the texts of a namespace from each toolset that has tools in it', () => {
    const a = bound('a', [tool('x', { namespace: 'n' }), tool('y', { namespace: 'n' })], { description: 'A.' });
    const b = bound('b', [tool('z', { namespace: 'n' }), tool('w', { namespace: 'm' })], {
      description: 'B.',
      instructions: 'Ask.',
    });
    const hidden = bound('c', [tool('v', { namespace: 'n', exposure: 'model-only' })], { description: 'C.' });
    expect(viewContent([a, b, hidden]).namespaces).toEqual([
      { name: 'n', description: 'A.\n\nB.', instructions: 'Ask.' },
      { name: 'm', description: 'B.', instructions: 'Ask.' },
    ]);
  });
});

describe('PackedView', () => {
  it('gives back what was packed, tool by tool', () => {
    const sets = [bound('kit', [tool('größe\0\ud800'), tool('b'), tool('c', { exposure: 'model-only' })])];
    const content = viewContent(sets);
    const view = new PackedView(packView(sets));
    const { tools, modelOnly, namespaces } = view.names();
    expect(tools.map(({ identifier }) => identifier)).toEqual(content.tools.map(({ identifier }) => identifier));
    expect([modelOnly.map(({ name }) => name), namespaces]).toEqual([['c'], []]);
    expect([view.tool(0), view.tool(1)]).toEqual(content.tools);
    for (const position of [-1, 2, 0.5]) expect(() => view.tool(position)).toThrow(RangeError);
    expect(new PackedView(packView([])).names()).toEqual({ tools: [], modelOnly: [], namespaces: [] });
  });
});
