import { run } from 'run';
import { createSandboxPool } from '../../dist/libs/sandbox/src/index.js';
import { runCell } from '../lib/pool-cells.mjs';
import { ratio, summary, timed } from '../lib/stats.mjs';

/** Samples of one side before the other side's turn: threads that `run` leaves behind end in its own time, not in ours. */
const BLOCK = 50;
const SETTLE_MS = 100;
/** Cells before the first sample, as a worker has been running for a while; `run` starts anew each time. */
const WARM_UP = 1_000;

const CALL = 'const { sum } = await tools.add({ a: 1, b: 2 });';
const hostFunctions = { tools: { add: ({ a, b }) => ({ sum: a + b }) } };

/** Cells in the worker's pool against the npm package `run`: trivial, with one tool call, and with a text of 1 MB. */
export async function pool() {
  const sandbox = await createSandboxPool({ slots: 2 });
  try {
    return {
      ...(await compare(sandbox, 'trivial cell', { ours: "text('hi')", theirs: "return 'hi'", samples: 1_000 })),
      ...(await compare(sandbox, 'one tool call', {
        ours: `${CALL} text(sum)`,
        theirs: `${CALL} return sum`,
        samples: 1_000,
      })),
      ...(await compare(sandbox, '1 MB text', {
        ours: "text('x'.repeat(1e6))",
        theirs: "return 'x'.repeat(1e6)",
        samples: 50,
      })),
    };
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

async function compare(sandbox, name, { ours: ourSource, theirs: theirSource, samples }) {
  const ours = [];
  const theirs = [];
  const cell = () => runCell(sandbox, ourSource);
  const peer = () => run({ source: theirSource, hostFunctions });
  for (let i = 0; i < Math.min(WARM_UP, 10 * samples); i++) await cell();
  for (let i = 0; i < Math.min(BLOCK, samples); i++) await peer();
  for (let done = 0; done < samples; done += BLOCK) {
    for (const [work, into] of [
      [cell, ours],
      [peer, theirs],
    ]) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      for (let i = 0; i < BLOCK; i++) into.push(await timed(work));
    }
  }
  const rows = { ours: summary(ours), theirs: summary(theirs) };
  return {
    [`${name}, in the pool (ms)`]: rows.ours,
    [`${name}, with run 2.1.5 (ms)`]: rows.theirs,
    [`${name}, run / cell`]: ratio(rows.theirs, rows.ours),
  };
}
