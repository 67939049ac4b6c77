import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ProgramCall, RunningCell } from '#libs/sandbox';
import { TestPool } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
beforeEach(() => {
  pool.retired.length = 0;
});
afterAll(() => pool.close(true));

const view = testView(Array.from({ length: 2_000 }, (_, i) => ({ name: `tool-${i}`, description: 'x'.repeat(900) })));
const large = JSON.stringify('x'.repeat(16_000_000));
const answer = (call: ProgramCall, cell: RunningCell): void => cell.settle(call.callId, { ok: true, json: large });

it.each([
  ['results', 'const kept = []; for (;;) kept.push(await tools.tool_1())'],
  [
    'a full memory, then a result',
    'const kept = []; try { for (;;) kept.push(new Uint8Array(1e6)) } catch {} await tools.tool_1()',
  ],
  [
    'a full memory, then the list',
    'const kept = []; try { for (;;) kept.push(new Uint8Array(1e6)) } catch {} ALL_TOOLS; return 1',
  ],
  ['queued arguments', 'for (let i = 0; i < 400; i++) tools.tool_1({ t: "x".repeat(1e6) + i })'],
  ['rejections', 'for (;;) Promise.reject("x".repeat(1e6) + Math.random())'],
])('memory used up by %s ends the script alone', async (name, source) => {
  const result = await pool.run(source, {
    view,
    // Time is not what is tested: on a busy machine hundreds of megabytes take longer than a script usually has.
    limits: { stretchCpuMs: 50_000, cpuMs: 50_000 },
    onCall: name === 'queued arguments' ? () => undefined : answer,
  });
  if (result.state === 'failed') expect(['out_of_memory', 'script_error', 'cpu_limit']).toContain(result.failure?.code);
  expect(pool.retired).toEqual([]);
  expect(await pool.run('return 1', { tenantId: 't_other' })).toMatchObject({ state: 'completed', texts: ['1'] });
});

it.each([
  ['searches', 'for (;;) searchTools("tool")'],
  [
    'long searches',
    'for (let i = 0; ; i++) searchTools(Array.from({ length: 190 }, (_, n) => "to" + i + n).join(" ").slice(0, 1000))',
  ],
  ['models', 'for (;;) models.classify({}, { state: {}, questions: {} }).catch(() => 1)'],
  [
    'a full memory, then a search',
    'const kept = []; try { for (;;) kept.push(new Uint8Array(1e6)) } catch {} await searchTools("tool", { limit: 2000 })',
  ],
  [
    'a large context',
    'for (;;) await models.classify({ provider: "", id: "" }, { state: { t: "x".repeat(16e6) }, questions: 1 }).catch(() => 1)',
  ],
])('a flood of questions harms nobody else: %s', async (_name, source) => {
  const limits = { stretchCpuMs: 2_000, cpuMs: 2_000 };
  const result = await pool.run(source, { dialect: 'codemode', view, limits });
  if (result.state === 'failed') expect(['out_of_memory', 'script_error', 'cpu_limit']).toContain(result.failure?.code);
  expect(result.elapsedMs).toBeLessThan(2_000 + 1_000);
  expect(await pool.run('return 1', { tenantId: 't_other' })).toMatchObject({ state: 'completed', texts: ['1'] });
});

it('a flood of look-ups obeys a stop', async () => {
  const source = 'for (let i = 0; ; i++) { try { tools["tol_" + i] } catch {} }';
  const result = await pool.run(source, { view, limits: { stretchCpuMs: 300, cpuMs: 300 } });
  expect(result.failure?.code).toBe('cpu_limit');
  expect(result.elapsedMs).toBeLessThan(1300);
});
