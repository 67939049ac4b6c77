import { EngineAbortError } from './imports.js';
import { Guest, silentHost } from './guest.js';
import type { BaseImage } from './image.js';
import { LAYOUT } from './layout.js';

/** Uses the stack, the heap, the parser, the regular expressions and the atoms, and leaves garbage and globals. */
const EXERCISE = `
  globalThis.kept = [];
  for (let i = 0; i < 20000; i++) kept.push({ i, text: 'x' + i });
  kept.push(new Uint8Array(4e6).fill(7));
  const deep = (n) => n === 0 ? 0 : 1 + deep(n - 1);
  try { deep(1e6) } catch {}
  try { JSON.parse('['.repeat(50000)) } catch {}
  try { (0, eval)('['.repeat(20000)) } catch {}
  /^(a?b?)+$/.test('ab'.repeat(500));
  Promise.reject(1).catch(() => 1);
  Promise.reject(2);
  new Proxy({}, {})
`;

/** The exercise must end long before this many interrupt checks. */
const MAX_INTERRUPTS = 100_000;

/**
 * Proves on this machine that the bounds in LAYOUT hold for this binary: dirties the memory as a script can, restores
 * it, and compares the whole memory with the base image. Throws EngineAbortError otherwise.
 */
export function checkRestore(guest: Guest, image: BaseImage): void {
  const { engine } = guest;
  let interrupts = 0;
  const rejections: boolean[] = [];
  engine.attach({
    ...silentHost,
    shouldInterrupt: () => (interrupts += 1) > MAX_INTERRUPTS,
    onRejection: (_promise, _reason, handled) => rejections.push(handled),
  });
  const result = guest.evaluate(Buffer.from(EXERCISE), 'check');
  if (!result.ok) throw new EngineAbortError(`the start-up check failed: ${guest.dump(result.error)}`);
  const proxyClass = guest.classOf(result.value as never);
  if (proxyClass !== LAYOUT.proxyClass) throw new EngineAbortError(`proxies have class ${proxyClass}`);
  if (rejections.join() !== 'false,true,false') throw new EngineAbortError('rejected promises are not told');
  if (!engine.stackIsEmpty()) throw new EngineAbortError('the stack pointer has another base');
  image.restore(engine);
  const difference = image.firstDifference(engine);
  if (difference !== undefined) throw new EngineAbortError(`byte ${difference} is not restored`);
}
