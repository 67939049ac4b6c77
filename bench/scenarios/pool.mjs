import { run } from 'run';
import { createSandboxPool } from '../../dist/libs/sandbox/src/index.js';
import { ratio, summary, timed } from '../lib/stats.mjs';

const WARM_UP = 200;
const SAMPLES = 2_000;
const LARGE_SAMPLES = 50;

/** A trivial cell, and a 1 MB text, in the worker's pool against the npm package `run`, interleaved. */
export async function pool() {
  const sandbox = await createSandboxPool({ slots: 2 });
  try {
    const trivial = await compare(sandbox, "text('hi')", "return 'hi'", WARM_UP, SAMPLES);
    const large = await compare(sandbox, "text('x'.repeat(1e6))", "return 'x'.repeat(1e6)", 5, LARGE_SAMPLES);
    return {
      'trivial cell in the pool (ms)': trivial.ours,
      'the same with run 2.1.5 (ms)': trivial.theirs,
      'run / cell': ratio(trivial.theirs, trivial.ours),
      '1 MB text in the pool (ms)': large.ours,
      '1 MB text with run (ms)': large.theirs,
      'run / cell, 1 MB': ratio(large.theirs, large.ours),
    };
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

async function compare(sandbox, ourSource, theirSource, warmUp, samples) {
  const ours = [];
  const theirs = [];
  for (let i = 0; i < warmUp + samples; i++) {
    const mine = await timed(() => cell(sandbox, ourSource));
    const peer = await timed(() => run({ source: theirSource }));
    if (i < warmUp) continue;
    ours.push(mine);
    theirs.push(peer);
  }
  return { ours: summary(ours), theirs: summary(theirs) };
}

async function cell(sandbox, source) {
  const slot = await sandbox.acquire();
  const program = {
    cellId: 'c_0000000000000000',
    tenantId: 't_bench',
    dialect: 'exec',
    source,
    values: new Map(),
    limits: { cpuMs: 60_000, stretchCpuMs: 5_000, wallInMs: 3_600_000 },
  };
  const { outcome } = slot.start(program, {
    output: () => undefined,
    boundary: () => undefined,
    call: () => undefined,
    note: () => undefined,
    waiting: () => undefined,
  });
  const { state } = await outcome;
  if (state !== 'completed') throw new Error(`the cell ended as ${state}`);
}
