import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#libs/core';
import type { ProgramCall, RunningCell } from '#libs/sandbox';
import { TestPool } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

const tools = [
  { name: 'echo', description: 'Says it again.\0\ud800' },
  { name: 'bash', description: 'Runs a command.', guidelines: ['With care.'] },
  { name: 'my-tool', namespace: 'kit', description: 'Mine.' },
  { name: 'search', namespace: 'a', description: 'Searches a.' },
  { name: 'search', namespace: 'b', description: 'Searches b.' },
  { name: 'subagent', exposure: 'model-only' as const },
];
const view = testView(tools);
const names = ['echo', 'bash', 'kit__my_tool', 'a__search', 'b__search'];

/** Resolves to the arguments. */
const echo = (call: ProgramCall, cell: RunningCell): void =>
  cell.settle(call.callId, { ok: true, json: call.argumentsJson });

describe.each(['exec', 'codemode'] as const)('in %s', (dialect) => {
  it('calls a tool with a copy of its arguments', async () => {
    const source =
      'const args = { a: "x\\0\\ud800", __proto__: 1 }; const p = tools.echo(args); args.a = 2; text(await p); text(await tools.bash())';
    const result = await pool.run(source, { dialect, view, onCall: echo });
    expect(result).toMatchObject({ state: 'completed', texts: ['{"a":"x\\u0000\\ud800"}', '{}'], openCalls: [] });
    expect(result.calls).toEqual([
      { callId: 1, identifier: 'echo', argumentsJson: '{"a":"x\\u0000\\ud800"}' },
      { callId: 2, identifier: 'bash', argumentsJson: '{}' },
    ]);
  });
});

it('names tools by identifier, by raw name and by namespace', async () => {
  const source = `
    text(await tools['my-tool']({ n: 1 })); text(await tools['kit.my-tool']({ n: 2 })); text(await tools['a.search']({ n: 3 }));
    return [tools.kit__my_tool === tools['my-tool'], 'my-tool' in tools, 'search' in tools, 'b.search' in tools, 'then' in tools,
      Object.keys(tools), JSON.stringify(tools), typeof tools.then, typeof tools[Symbol.iterator], (await tools) === tools]`;
  const { texts, calls } = await pool.run(source, { view, onCall: echo });
  expect(calls.map(({ identifier }) => identifier)).toEqual(['kit__my_tool', 'kit__my_tool', 'a__search']);
  const last: unknown = JSON.parse(texts.at(-1) ?? '');
  expect(last).toEqual([true, true, false, true, false, names, '{}', 'undefined', 'undefined', true]);
});

it.each([
  ['tools.Bash', 'tools.Bash does not exist. Did you mean tools.bash?'],
  ['tools.my_tool', 'tools.my_tool does not exist. Did you mean tools.kit__my_tool?'],
  ['tools["my tool"]', 'tools["my tool"] does not exist. Did you mean tools.kit__my_tool?'],
  ['tools.search', 'tools.search is not clear: 2 tools have that name. Use tools.a__search or tools.b__search.'],
  ['tools.nothing_like_it', 'tools.nothing_like_it does not exist. ALL_TOOLS lists the tools there are.'],
  [
    'tools.subagent',
    'tools.subagent does not exist. Scripts cannot call subagent. It is a tool of your own: call it directly, outside of scripts.',
  ],
  ['tools.exec', 'tools.exec does not exist. ALL_TOOLS lists the tools there are.'],
])('%s: %s', async (source, message) => {
  const { failure } = await pool.run(source, { view });
  expect(failure).toMatchObject({ code: 'script_error', message: `Error: ${message}` });
});

it('has no tools without a view', async () => {
  const source = 'try { tools.a } catch (e) { text(e.message) } return [Object.keys(tools), ALL_TOOLS, "a" in tools]';
  expect((await pool.run(source)).texts).toEqual([
    'tools.a does not exist: this script has no tools.',
    '[[],[],false]',
  ]);
});

it('lists all tools', async () => {
  const source = 'ALL_TOOLS.push(1); ALL_TOOLS = 5; text(ALL_TOOLS === ALL_TOOLS); return ALL_TOOLS';
  const { texts } = await pool.run(source, { view });
  expect(texts[0]).toBe('true');
  const call = (name: string) =>
    `declare const tools: { ${name}(args?: { [key: string]: unknown }): Promise<string | ImageBlock>; };`;
  const listed = JSON.parse(texts[1] ?? '') as { name: string; description: string }[];
  expect(listed.slice(0, -1).map(({ name }) => name)).toEqual(names);
  expect(listed[0]?.description).toBe(`Says it again.\0\ud800\n${call('echo')}`);
  expect(listed[1]?.description).toBe(`Runs a command.\nWith care.\n${call('bash')}`);
  expect(listed[5]).toBe(1);
});

it('cannot be changed', async () => {
  const source = `
    'use strict'; tools.echo = 1; delete tools.echo; tools = 2;
    for (const f of [() => Object.defineProperty(tools, 'x', { value: 1 }), () => Object.freeze(tools)]) try { f(); text('no') } catch {}
    return [typeof tools.echo, 'x' in tools]`;
  expect((await pool.run(source, { view })).texts).toEqual(['["function",false]']);
});

it('rejects with an error that says where the script called', async () => {
  const source = '\nawait tools.echo({})';
  const { failure } = await pool.run(source, {
    view,
    onCall: ({ callId }, cell) => cell.settle(callId, { ok: false, message: 'no luck\0' }),
  });
  expect(failure).toMatchObject({ code: 'script_error', message: 'Error: no luck\0' });
  expect(failure?.frames).toContain('script.js:2:');
});

it.each([
  ['5', 'TypeError: tools.echo: the arguments must be one object, and this is a number'],
  ['null', 'TypeError: tools.echo: the arguments must be one object, and this is null'],
  ['[1]', 'TypeError: tools.echo: the arguments must be one object, and this is an array'],
  ['() => 1', 'TypeError: tools.echo: the arguments must be one object, and this is a function'],
  ['new Date(0)', 'TypeError: tools.echo: the arguments must be an object as JSON too'],
  ['{ n: 1n }', 'TypeError: tools.echo: the arguments cannot be sent as JSON'],
  ['{ t: "x".repeat(1048570) }', 'RangeError: tools.echo: the arguments have 1048578 characters'],
  ['{ t: "é".repeat(600000) }', 'RangeError: tools.echo: the arguments have 600008 characters'],
  ['{ toJSON() { throw new RangeError("mine") } }', 'RangeError: mine'],
])('refuses arguments: %s', async (args, message) => {
  const { texts, calls } = await pool.run(`await tools.echo(${args}).catch((e) => text(e.name + ': ' + e.message))`, {
    view,
  });
  expect(texts[0]?.slice(0, message.length)).toBe(message);
  expect(calls).toEqual([]);
});

it('takes arguments up to the limit, and large results', async () => {
  const source = 'const r = await tools.echo({ t: "é".repeat(524280) }); return r.t.length';
  const result = await pool.run(source, { view, onCall: echo });
  expect(result.texts).toEqual(['524280']);
  const json = JSON.stringify('x'.repeat(limits.callResultChars - 2));
  const large = (sent: string) => ({
    view,
    onCall: ({ callId }: ProgramCall, cell: RunningCell) => cell.settle(callId, { ok: true, json: sent }),
  });
  expect((await pool.run('return (await tools.echo()).length', large(json))).texts).toEqual(['16777214']);
  expect((await pool.run('await tools.echo()', large(`${json} `))).failure?.message).toContain('16777217 characters');
  expect((await pool.run('await tools.echo()', large('nope'))).failure?.message).toMatch(/^SyntaxError/);
});

it('has at most 32 calls under way, answered in any order', async () => {
  const open: number[] = [];
  let most = 0;
  const source =
    'const r = await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo({ i }))); return r.every((v, i) => v === i + 1)';
  const result = await pool.run(source, {
    view,
    onCall: ({ callId }, cell) => {
      open.push(callId);
      most = Math.max(most, open.length);
      if (open.length < 32 && callId < 969) return;
      for (const id of open.reverse().splice(0, callId < 969 ? 7 : 32)) cell.settle(id, { ok: true, json: `${id}` });
    },
  });
  expect(result).toMatchObject({ state: 'completed', texts: ['true'], openCalls: [] });
  expect(most).toBe(32);
});

it('lets a script make 10,000 calls', async () => {
  const source = `
    for (let i = 0; i < 9_968; i += 32) await Promise.all(Array.from({ length: Math.min(32, 9_968 - i) }, () => tools.echo()));
    for (let i = 0; i < 32; i++) await tools.echo();
    await tools.echo().catch((e) => text(e.name + ': ' + e.message))`;
  const result = await pool.run(source, { view, onCall: echo });
  expect(result.texts).toEqual(['RangeError: tools.echo: a script may make 10000 calls, and this would be one more']);
  expect(result.calls).toHaveLength(10_000);
});

it('names the calls that were open at the end', async () => {
  const source =
    'tools.bash(); tools.echo(); await tools.kit__my_tool(); for (let i = 0; i < 40; i++) tools.bash(); return 1';
  const result = await pool.run(source, {
    view,
    onCall: (call, cell) => {
      if (call.callId === 3) echo(call, cell);
    },
  });
  expect(result).toMatchObject({
    state: 'completed',
    openCalls: [1, 2, ...Array.from({ length: 30 }, (_, i) => i + 4)],
  });
});

it('waits for calls, beside timers, and is stopped while it waits', async () => {
  const both = 'const t = new Promise((r) => setTimeout(() => r("t"), 5)); return [await tools.echo({}), await t]';
  expect((await pool.run(both, { view, onCall: echo })).texts).toEqual(['[{},"t"]']);
  const stopped = await pool.run('await tools.echo()', { view, onCall: (_call, cell) => cell.stop('terminated') });
  expect(stopped).toMatchObject({ state: 'terminated', openCalls: [1] });
});

it('ignores results that nobody waits for', async () => {
  const source = 'text(await tools.echo()); text(await tools.echo())';
  const result = await pool.run(source, {
    view,
    onCall: ({ callId }, cell) => {
      cell.settle(callId + 1, { ok: true, json: '"early"' });
      cell.settle(callId, { ok: true, json: `${callId}` });
      cell.settle(callId, { ok: true, json: '"twice"' });
    },
  });
  expect(result.texts).toEqual(['1', '2']);
});

it('starts as fast with 10,000 tools as with one', async () => {
  const many = testView(
    Array.from({ length: 10_000 }, (_, i) => ({
      name: `tool-${i}`,
      description: 'x'.repeat(200),
      inputSchema: { type: 'object', properties: { [`p${i}`]: { type: 'string', description: 'y'.repeat(100) } } },
    })),
  );
  const source = 'return await tools.tool_9999({})';
  expect((await pool.run(source, { view: many, onCall: echo })).texts).toEqual(['{}']);
  const { cpuMs } = await pool.run('return 1', { view: many });
  expect(cpuMs).toBeLessThan(50);
  const { failure } = await pool.run('tools.tol_9999', { view: many });
  expect(failure?.message).toContain('tools.tool_9999');
  expect((await pool.run('return [Object.keys(tools).length, ALL_TOOLS.length]', { view: many })).texts).toEqual([
    '[10000,10000]',
  ]);
});

describe('notify', () => {
  it('sends text', async () => {
    const source = 'text(notify({ a: 1 })); notify("a\\0\\ud800"); notify(null); notify("é".repeat(8192))';
    const { texts, notes } = await pool.run(source);
    expect(texts).toEqual(['undefined']);
    expect(notes).toEqual(['{"a":1}', 'a\0\ud800', 'null', 'é'.repeat(8192)]);
  });

  it.each([
    ['notify("")', 'TypeError: notify: the note is blank'],
    ['notify(" \\n\\t")', 'TypeError: notify: the note is blank'],
    ['notify("x".repeat(16385))', 'RangeError: notify: the note has 16385 characters'],
    ['notify("é".repeat(8193))', 'RangeError: notify: the note has 8193 characters'],
    ['for (;;) notify("x")', 'RangeError: notify: a script may send 1000 notes'],
    ['for (;;) notify("x".repeat(16384))', 'RangeError: notify: a script may send 1000 notes with 1048576 bytes'],
  ])('refuses: %s', async (source, message) => {
    expect((await pool.run(source)).failure?.message.slice(0, message.length)).toBe(message);
  });
});
