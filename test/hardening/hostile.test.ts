import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CellarClient, Cluster, textsOf } from '../../libs/testing/src/index.js';
import { hostileScripts } from './hostile-scripts.js';

/** CPU time that a script gets without a wait here, and what may come on top until its thread has ended, in ms. */
const CPU_MS = 1_500;
const NEIGHBOURS = 20;

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

  it.each(hostileScripts)('$name', async ({ source, outcomes, texts }) => {
    const settings = { stretchCpuLimitMs: CPU_MS, cpuLimitMs: CPU_MS };
    const attack = await attacker.conversation({ kind: 'direct', settings });
    const ordinary = await neighbour.conversation();
    const attacking = attack.exec(source);
    const others = Array.from({ length: NEIGHBOURS }, (_, i) => ordinary.exec(`text(${i} + typeof k)`));
    const result = await attacking;
    const outcome = result.state === 'completed' ? 'completed' : (result.error?.code ?? result.state);
    expect(outcomes).toContain(outcome);
    if (texts && outcome === 'completed') expect(textsOf(result)).toEqual(texts);
    const answers = await Promise.all(others);
    expect(answers.map((answer) => textsOf(answer)[0])).toEqual(answers.map((_, i) => `${i}undefined`));
    expect(textsOf(await attack.exec('text([1, 2].map(x => x * 2).join() + typeof k)'))).toEqual(['2,4undefined']);
  });
});
