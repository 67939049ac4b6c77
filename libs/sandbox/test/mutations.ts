import type { SandboxRunner, WaitingScript } from '#libs/sandbox';
import { deaf, testBasis } from './run-script.js';
import { testView } from './test-view.js';

const view = testView([{ name: 'ask' }]);
const limits = { cpuMs: 200, stretchCpuMs: 100, wallInMs: 5_000 };

const SOURCE = `
  const list = Array.from({ length: 200 }, (_, i) => ({ i, text: 'x' + i, f: () => i }));
  const map = new Map(list.map((x) => [x.text, x])); const bytes = new Uint8Array(1_000).fill(1);
  const r = await tools.ask({ list });
  text(JSON.stringify(list).length + map.size + bytes.join('').length + list.reduce((n, x) => n + x.f(), 0));
  await tools.ask(); return r`;

/** A waiting script with a heap of many kinds. */
export async function waitingScript(runner: SandboxRunner): Promise<WaitingScript> {
  const slot = await runner.acquire();
  const program = { ...testBasis, limits, view, dialect: 'exec', source: SOURCE, values: new Map() } as const;
  const script = await new Promise<WaitingScript | undefined>((resolve) => {
    const cell = slot.start(program, { ...deaf, waiting: () => void cell.takeOut().then(resolve) });
  });
  if (script === undefined) throw new Error('the script does not wait');
  return script;
}

/** Numbers from 0 to below `n`, the same for the same seed. */
function* numbers(seed: number): Generator<number, never, number> {
  let state = seed >>> 0;
  for (let n = 1; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    n = yield Math.floor((state / 2 ** 32) * n);
  }
}

/** A copy of the script with up to 16 of its bytes or words changed, the same for the same seed. */
export function mutated(script: WaitingScript, seed: number): WaitingScript {
  const random = numbers(seed);
  random.next(1);
  const below = (n: number): number => random.next(n).value;
  const changes = script.image.changes.slice(0);
  const bytes = new Uint8Array(changes);
  const words = new DataView(changes);
  for (let left = 1 + below(16); left > 0; left -= 1) {
    const at = below(bytes.length - 4);
    if (below(2) === 0) bytes[at] = below(256);
    else words.setUint32(at, [0, 1, 0xffff_ffff, 5_333_088 + below(400_000), below(2 ** 31)][below(5)] ?? 0, true);
  }
  return { ...script, image: { ...script.image, changes } };
}

/** Goes on with it, answering each of its calls. How it ended. */
export async function resumeMutated(runner: SandboxRunner, script: WaitingScript): Promise<string> {
  const slot = await runner.acquire();
  const answer = { ok: true, json: '{"a":[1,2,3]}' } as const;
  const cell = slot.resume({ ...testBasis, limits, view }, script, {
    ...deaf,
    call: ({ callId }) => cell.settle(callId, answer),
  });
  for (const callId of script.state.openCalls) cell.settle(callId, answer);
  const { state, failure } = await cell.outcome;
  return failure?.code ?? state;
}
