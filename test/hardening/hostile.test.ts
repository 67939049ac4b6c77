import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answering,
  type CellarClient,
  Cluster,
  answerAll,
  clientTool,
  conversationWith,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';
import { hostileScripts } from './hostile-scripts.js';

/** CPU time that a script gets without a wait here, and what may come on top until its thread has ended, in ms. */
const CPU_MS = 1_500;
const NEIGHBOURS = 20;
const NEIGHBOUR = "text(typeof k + typeof load('k') + ({}).k + Object.k + text.k + [].polluted)";
const CLEAN = 'undefined'.repeat(6);

const anything = { type: 'object' };
const value = { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] };
const tools = [
  clientTool('echo', { inputSchema: value }),
  clientTool('mirror'),
  clientTool('structured', { outputSchema: anything }),
  clientTool('odd', { outputSchema: anything }),
];
/** Their answers; `odd` gives a key that objects have; bodies with `__proto__` are refused. */
const answering: Answering = ({ tool, arguments: given }) => {
  if (tool === 'echo') return saying((given as { value: string }).value);
  if (tool === 'mirror') return saying(JSON.stringify(given));
  const odd = JSON.parse('{"constructor":{"prototype":{"polluted":1}}}') as object;
  return { result: { content: [], structuredContent: tool === 'odd' ? odd : { a: 1 } } };
};

describe('hostile scripts, beside the scripts of another tenant', () => {
  let cluster: Cluster;
  let attacker: CellarClient;
  let neighbour: CellarClient;
  beforeAll(async () => {
    cluster = await Cluster.start({ env: { WORKER_SLOTS: '2' } });
    attacker = await cluster.tenant('an attacker');
    neighbour = await cluster.tenant('a neighbour');
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(hostileScripts)('row $row: $name', async ({ source, outcomes, texts, cpuMs = CPU_MS }) => {
    const settings = { stretchCpuLimitMs: cpuMs, cpuLimitMs: cpuMs };
    const attack = await conversationWith(attacker, tools, { settings });
    const ordinary = await neighbour.conversation();
    const attacking = attack.exec(source).then((first) => answerAll(attack, first, answering));
    const others = Array.from({ length: NEIGHBOURS }, (_, i) => ordinary.exec(`text(${i}); ${NEIGHBOUR}`));
    const answers = await attacking;
    const result = answers.at(-1);
    const outcome = result?.state === 'completed' ? 'completed' : (result?.error?.code ?? result?.state);
    expect(outcomes).toContain(outcome);
    if (texts && outcome === 'completed') expect(answers.flatMap(textsOf)).toEqual(texts);
    const ends = await Promise.all(others);
    expect(ends.map(textsOf)).toEqual(ends.map((_, i) => [String(i), CLEAN]));
    expect(textsOf(await attack.exec('text([1, 2].map(x => x * 2).join() + typeof k)'))).toEqual(['2,4undefined']);
  });

  it('rows 4 and 5: built-ins that ignore interrupts are stopped within deadline + 1 s, and 20 neighbours finish', async () => {
    const deadlineMs = 1_000;
    const attack = await attacker.conversation();
    const ordinary = await neighbour.conversation();
    for (const source of [
      'const a = []; a.length = 4294967295; a.sort()',
      "(new Array(1e9) + '').length",
      "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
      'const b = []; b.length = 4294967295; b.indexOf(1)',
    ]) {
      const startedAt = performance.now();
      const attacking = attack.codemode(`// @options: {"timeout_ms": ${deadlineMs}}\n${source}`).then((result) => ({
        code: result.error?.code,
        tookMs: performance.now() - startedAt,
      }));
      const others = await Promise.all(Array.from({ length: NEIGHBOURS }, (_, i) => ordinary.exec(`text(${i})`)));
      expect(others.flatMap(textsOf)).toEqual(others.map((_, i) => String(i)));
      const { code, tookMs } = await attacking;
      // The engine may also refuse for want of memory, before that.
      expect(['deadline', 'out_of_memory', 'script_error']).toContain(code);
      expect(tookMs).toBeLessThan(deadlineMs + 1_000);
    }
  });
});
