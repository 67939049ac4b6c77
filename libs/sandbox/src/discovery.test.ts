import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

const call = (text: string) => `declare const tools: { ${text}; };`;
const texts = { description: 'Work with code.', instructions: 'Search first.' };
const view = testView(
  [
    {
      name: 'search-issues',
      namespace: 'git-hub',
      description: 'Find issues of a repository.',
      guidelines: ['Prefer labels.'],
      inputSchema: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] },
      outputSchema: { type: 'array', items: { type: 'integer' } },
    },
    { name: 'createEvent', description: 'Add an appointment to the calendar.' },
    { name: 'weather', namespace: 'a', description: 'The weather of today.' },
    { name: 'weather', namespace: 'b', description: 'The weather of tomorrow.' },
    { name: 'subagent', namespace: 'pi', exposure: 'model-only' },
    { name: 'ask_user', exposure: 'model-only' },
  ],
  texts,
);
const issues = [
  'Find issues of a repository.',
  'Prefer labels.',
  call('git_hub__search_issues(args: { label: string }): Promise<Array<number>>'),
].join('\n');
const hint = (name: string) =>
  `Scripts cannot call ${name}. It is a tool of your own: call it directly, outside of scripts.`;

/** What an expression resolves to, or the error that it rejects with. */
async function ask(expression: string, dialect: 'exec' | 'codemode' = 'codemode'): Promise<unknown> {
  const source = `try { const v = await ${expression}; text(v === undefined ? 'null' : JSON.stringify(v)) } catch (e) { text(JSON.stringify(e.name + ': ' + e.message)); text(e instanceof Error) }`;
  const { texts: said } = await pool.run(source, { dialect, view });
  return JSON.parse(said[0] ?? '') as unknown;
}

describe('describeTool', () => {
  it.each(['git_hub__search_issues', 'search-issues', 'git-hub.search-issues'])('knows %s', async (name) => {
    expect(await ask(`describeTool(${JSON.stringify(name)})`)).toBe(issues);
  });

  it.each([
    ['subagent', 'subagent'],
    ['pi__subagent', 'subagent'],
    ['pi.subagent', 'subagent'],
    ['ask_user', 'ask_user'],
  ])('hints that %s is for the model', async (name, shown) => {
    expect(await ask(`describeTool(${JSON.stringify(name)})`)).toBe(hint(shown));
  });

  it.each(['', 'nothing', 'weather', 'Search-issues', 'toString', 'x\0\ud800', 'x'.repeat(10_000)])(
    'resolves to undefined for %j',
    async (name) => expect(await ask(`describeTool(${JSON.stringify(name)})`)).toBe(null),
  );

  it('says the same as ALL_TOOLS', async () => {
    const source = 'ALL_TOOLS.every((t) => t.description === found[t.name])';
    const found =
      'Object.fromEntries(await Promise.all(ALL_TOOLS.map(async (t) => [t.name, await describeTool(t.name)])))';
    const result = await pool.run(`const found = ${found}; return [ALL_TOOLS.length, ${source}]`, {
      dialect: 'codemode',
      view,
    });
    expect(result.texts).toEqual(['[4,true]']);
  });
});

describe('describeNamespace', () => {
  it.each(['git-hub', 'git_hub'])('knows %s', async (name) => {
    expect(await ask(`describeNamespace('${name}')`)).toEqual({
      name: 'git-hub',
      ...texts,
      tools: [{ name: 'git_hub__search_issues', description: issues }],
    });
  });

  it.each(['nothing', '', 'pi', 'toString'])('resolves to undefined for "%s"', async (name) => {
    expect(await ask(`describeNamespace('${name}')`)).toBe(null);
  });

  it('leaves out texts that there are not', async () => {
    const plain = testView([{ name: 'x', namespace: 'n' }]);
    const { texts: said } = await pool.run('return Object.keys(await describeNamespace("n"))', {
      dialect: 'codemode',
      view: plain,
    });
    expect(said).toEqual(['["name","tools"]']);
  });
});

describe('searchTools', () => {
  const names = async (given: string) =>
    ((await ask(`searchTools(${given})`)) as { name: string }[]).map(({ name }) => name);

  it.each<[given: string, found: string[]]>([
    ['"calendar"', ['createEvent']],
    ['"create event"', ['createEvent']],
    ['"LABEL"', ['git_hub__search_issues']],
    ['"repositry isues"', ['git_hub__search_issues']],
    ['"weather today"', ['a__weather', 'b__weather']],
    ['"weather tomorrow"', ['b__weather', 'a__weather']],
    ['"weather", { limit: 1 }', ['a__weather']],
    ['"weather", { namespace: "b" }', ['b__weather']],
    ['"issue", { namespace: "git_hub", limit: 3 }', ['git_hub__search_issues']],
    ['"weather", { namespace: "nothing" }', []],
    ['"weather", null', ['a__weather', 'b__weather']],
    ['"weather", { limit: null, namespace: undefined }', ['a__weather', 'b__weather']],
    ['"b.weather"', ['b__weather', 'a__weather']],
    ['"zebra"', []],
    ['"???"', []],
    ['"subagents"', []],
    ['"subagent"', ['pi__subagent']],
    ['" subagent "', ['pi__subagent']],
    ['"subagent", { namespace: "pi" }', ['pi__subagent']],
    ['"subagent", { namespace: "a" }', []],
  ])('%s', async (given, found) => expect(await names(given)).toEqual(found));

  it('resolves to names and descriptions as in ALL_TOOLS, or the hint', async () => {
    expect(await ask('searchTools("issues")')).toEqual([{ name: 'git_hub__search_issues', description: issues }]);
    expect(await ask('searchTools("subagent")')).toEqual([{ name: 'pi__subagent', description: hint('subagent') }]);
  });

  it('finds eight tools when nothing is said, of 10,000', async () => {
    const many = testView(
      Array.from({ length: 10_000 }, (_, i) => ({
        name: `tool-${i}`,
        description: `Number ${i} of the many, ${i % 100 === 7 ? 'which paints flowers' : 'which counts sheep'}.`,
        inputSchema: { type: 'object', properties: { [`p${i}`]: { type: 'string' } } },
      })),
    );
    const source = `
      const some = await searchTools('paint flower'), all = await searchTools('flowers', { limit: 10_000 });
      const [exact] = await searchTools('tool-9999');
      return [some.length, some.every((t) => t.description.includes('flowers')), all.length, exact.name]`;
    const options = { dialect: 'codemode', view: many, limits: { stretchCpuMs: 20_000 } } as const;
    expect((await pool.run(source, options)).texts).toEqual(['[8,true,100,"tool_9999"]']);
  });
});

it.each([
  ['describeTool()', 'TypeError: describeTool: the name must be a string, and it is undefined'],
  ['describeTool(5)', 'TypeError: describeTool: the name must be a string, and it is 5'],
  ['describeTool(["x"])', 'TypeError: describeTool: the name must be a string, and it is an array'],
  ['describeTool(() => 1)', 'TypeError: describeTool: the name must be a string, and it is a function'],
  ['describeNamespace(null)', 'TypeError: describeNamespace: the name must be a string, and it is null'],
  ['searchTools({})', 'TypeError: searchTools: the query must be a string, and it is an object'],
  ['searchTools(" \\n")', 'Error: searchTools: query must not be empty; say what you look for'],
  [
    'searchTools("x".repeat(1001))',
    'RangeError: searchTools: the query has 1001 characters, and it may have 1000; pass less',
  ],
  ...[
    ['0', '0'],
    ['-1', '-1'],
    ['1.5', '1.5'],
    ['Infinity', 'not finite'],
    ['"3"', '"3"'],
    ['true', 'true'],
  ].map(([limit, shown]) => [
    `searchTools("x", { limit: ${limit} })`,
    `RangeError: searchTools: limit must be greater than zero, a whole number, and it is ${shown}`,
  ]),
  ['searchTools("x", { namespace: 5 })', 'TypeError: searchTools: the namespace must be a string, and it is 5'],
  [
    'searchTools("x", 5)',
    'TypeError: searchTools: the options must be an object such as { limit: 8, namespace: "github" }, and they are a number',
  ],
  ['searchTools("x", { get limit() { throw new RangeError("mine") } })', 'RangeError: mine'],
  ['searchTools("x", { limit: 1n })', 'TypeError: searchTools: what it was given cannot be sent as JSON'],
  [
    'describeTool("x".repeat(16777216))',
    'RangeError: describeTool: what it was given has 16777248 characters of JSON, and it may have 16777216; pass less',
  ],
])('%s rejects', async (expression, message) => {
  expect(String(await ask(expression)).slice(0, message?.length)).toBe(message);
});

it('does not throw, and says where the script asked', async () => {
  const { failure } = await pool.run('\nconst p = describeTool(5);\ntext("still here"); await p', {
    dialect: 'codemode',
  });
  expect(failure?.frames).toContain('script.js:2:');
});

it('knows nothing without a view', async () => {
  const source =
    'return [await searchTools("x"), typeof await describeTool("x"), typeof await describeNamespace("x"), await models.getModelsOfType("chat")]';
  const { texts: said } = await pool.run(source, { dialect: 'codemode' });
  expect(said).toEqual(['[[],"undefined","undefined",[]]']);
});

it('ends with the script that exits while it asks', async () => {
  const source = 'text("before"); searchTools("x", { get limit() { exit() } }).then(() => text("after")); text("on")';
  const result = await pool.run(source, { dialect: 'codemode', view });
  expect(result).toMatchObject({ state: 'completed', texts: ['before'], warnings: [] });
});

it('is undefined in exec', async () => {
  const source = 'return [typeof searchTools, typeof describeTool, typeof describeNamespace, typeof models].join()';
  expect((await pool.run(source, { view })).texts).toEqual(['undefined,undefined,undefined,undefined']);
});

it('can be shadowed, not replaced', async () => {
  const source = `
    searchTools = describeTool = 1; models = 2; models.classify = 3; describeTool.x = 4; delete models.classify;
    for (const f of [() => { 'use strict'; models.x = 1 }, () => Object.defineProperty(models, 'y', { value: 1 })]) try { f(); text('no') } catch {}
    text([typeof searchTools, typeof describeTool, typeof models.classify, describeTool.x, Object.isFrozen(models)]);
    { const searchTools = 5, models = 6; text(searchTools + models) }
    return searchTools.name + models.classify.name`;
  const { texts: said } = await pool.run(source, { dialect: 'codemode', view });
  expect(said).toEqual(['["function","function","function",null,true]', '11', 'searchToolsclassify']);
});
