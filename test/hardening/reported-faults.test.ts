import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type CellarClient,
  Cluster,
  answerAll,
  clientTool,
  conversationWith,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';

// Faults that users of others have reported, by their ids in the table of reported faults.
const tools = [clientTool('echo'), clientTool('fail')];
/** The smallest picture there is, without its last bytes. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg';

let cluster: Cluster;
let tenant: CellarClient;
beforeAll(async () => {
  cluster = await Cluster.start({ env: { WORKER_SLOTS: '1' } });
  tenant = await cluster.tenant();
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** What the worker has in memory, in bytes. */
const residentBytes = (): number =>
  1_024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${cluster.worker().pid}/status`, 'utf8'))?.[1]);
const clean = async (): Promise<void> =>
  expect(textsOf(await (await tenant.conversation()).exec('text(typeof kept)'))).toEqual(['undefined']);

it('D12: the memory limit bounds the total, and the process', async () => {
  const before = residentBytes();
  const conversation = await tenant.conversation();
  const result = await conversation.exec(
    'globalThis.kept = []; for (let i = 0; i < 200; i++) kept.push(new Uint8Array(1e7).fill(1))',
  );
  expect(result.error?.code).toBe('out_of_memory');
  expect(residentBytes() - before).toBeLessThan(600_000_000);
  await clean();
});

it('D13: joining a huge array is stopped within its deadline and a second', async () => {
  const conversation = await tenant.conversation();
  const startedAt = performance.now();
  const result = await conversation.codemode(
    '// @options: {"timeout_ms": 1000}\nreturn (new Array(1e9) + \'\').length',
  );
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(['deadline', 'out_of_memory', 'script_error']).toContain(result.error?.code);
  await clean();
});

it('D14: a success stays one after 200,000 objects in a promise job', async () => {
  const conversation = await tenant.conversation();
  const result = await conversation.exec(
    'await Promise.resolve().then(() => { globalThis.kept = Array.from({ length: 200000 }, (_, i) => ({ i })) }); return kept.length',
  );
  expect(result.state).toBe('completed');
  expect(textsOf(result)).toEqual(['200000']);
  await clean();
});

it('D15: a tool that fails is an ordinary rejection, awaited in try or not', async () => {
  const { pid } = cluster.worker();
  const conversation = await conversationWith(tenant, tools);
  const failing = () => ({ error: { message: 'no luck' } });
  const play = async (source: string) =>
    (await answerAll(conversation, await conversation.exec(source), failing)).at(-1);
  const caught = await play('try { await tools.fail({}) } catch (e) { text(e.message + (e instanceof Error)) }');
  expect(caught && textsOf(caught)).toEqual(['no lucktrue']);
  expect(await play('await tools.fail({})')).toMatchObject({ state: 'failed', error: { code: 'script_error' } });
  const ignored = await play('tools.fail({}); await tools.fail({}).catch(() => 0); return 1');
  expect(ignored?.state).toBe('completed');
  expect(JSON.stringify(ignored?.warnings)).toContain('no luck');
  await clean();
  expect(cluster.worker().pid).toBe(pid);
});

it('E03: an output budget of any size is lowered to the maximum, which the result names', async () => {
  const conversation = await tenant.conversation();
  const result = await conversation.exec(
    '// @exec: {"max_output_tokens": 10000000}\nfor (let i = 0; i < 10; i++) text("x".repeat(100000))',
  );
  expect(result.effective).toMatchObject({ max_output_tokens: 100_000 });
  expect(textsOf(result)[0]).toMatch(/^Warning: truncated output \(original token count: 250003\)/);
});

it('E04: an image is whole under a budget of 1, and text is cut beside it', async () => {
  const conversation = await tenant.conversation();
  const data = `${PNG}${'A'.repeat(4_000)}`;
  const result = await conversation.exec(
    `// @exec: {"max_output_tokens": 1}\ntext('y'.repeat(1000)); image('data:image/png;base64,${data}'); text('z'.repeat(1000))`,
  );
  const images = result.content.filter((block) => block.type === 'image');
  expect(images).toEqual([{ type: 'image', mimeType: 'image/png', data }]);
  expect(textsOf(result).join()).toContain('tokens truncated');
});

it('E06: waiting for a slow tool costs no CPU budget', async () => {
  const settings = { cpuLimitMs: 500, stretchCpuLimitMs: 500 };
  const conversation = await conversationWith(tenant, tools, { settings });
  const cell = await conversation.exec('return await tools.echo({})');
  // The call was told: this observation lasts for its time.
  const later = await conversation.wait(cell.cellId, { yield_time_ms: 1_500 });
  expect(later.timings.wallMs).toBeGreaterThan(1_500);
  const last = (await answerAll(conversation, later, () => saying('late'))).at(-1);
  expect(last?.state).toBe('completed');
  expect(last && textsOf(last)).toEqual(['late']);
  expect(last?.timings.cpuMs).toBeLessThan(500);
});

it('E07: a returned promise is awaited', async () => {
  const conversation = await conversationWith(tenant, tools);
  for (const dialect of ['exec', 'codemode'] as const) {
    const cell = await conversation[dialect]('return tools.echo({ value: 1 })');
    const last = (await answerAll(conversation, cell, (call) => saying(JSON.stringify(call.arguments)))).at(-1);
    expect(last && textsOf(last)).toEqual(['{"value":1}']);
  }
});

it('E13: a script that patches toJSON of arrays ends, and its array is itself', async () => {
  const conversation = await tenant.conversation();
  const result = await conversation.exec(
    "try { Array.prototype.toJSON = function () { return this.map(String) } } catch {} store('k', [1]); return [1, 2]",
  );
  expect(result.state).toBe('completed');
  expect(textsOf(result)).toEqual(['[1,2]']);
  expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['[1]']);
});

it('E14: base64 of an image with line breaks is taken, and a large one is whole', async () => {
  const conversation = await tenant.conversation();
  const lines = 18_400;
  const result = await conversation.exec(
    `image('data:image/png;base64,${PNG}' + ('\\r\\n' + 'A'.repeat(76)).repeat(${lines}))`,
  );
  expect(result.content.filter((block) => block.type === 'image')).toEqual([
    { type: 'image', mimeType: 'image/png', data: PNG + 'A'.repeat(76 * lines) },
  ]);
});
