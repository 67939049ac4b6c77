import { Buffer } from 'node:buffer';
import '../webassembly.js';

/** Thrown out of the engine when it gives up. Whoever catches it retires the thread. */
export class EngineAbortError extends Error {
  constructor(what: string) {
    super(`the engine gave up: ${what}`);
    this.name = 'EngineAbortError';
  }
}

/** What an instance's imports tell and ask. */
export interface ImportHost {
  /** Milliseconds since the epoch, as the script sees them. */
  clock(): number;
  /** The engine asked for more memory than there is. */
  exhausted(): void;
}

/** The imports of the pinned binary. Another set means another binary. */
const EXPECTED = 'abcdefghijklmnopqrst';

/** Dispatchers of the loader that stay as they are: host function, interrupt, module hooks, host references, memory. */
const KEPT = new Set(['a', 'g', 'h', 'i', 's', 't']);

/**
 * Replaces what the package's loader gives the engine by functions that depend on nothing around them: no environment,
 * no time zone (UTC), no clock but the host's, no growth of memory, no output. This is what makes the base image equal
 * on every machine (spec: protocols, rule 1).
 */
export function deterministicImports(
  given: Record<string, unknown>,
  memory: WebAssembly.Memory,
  host: ImportHost,
): WebAssembly.ModuleImports {
  const names = Object.keys(given).sort().join('');
  if (names !== EXPECTED) throw new EngineAbortError(`unexpected imports "${names}", is it another build?`);
  const view = new DataView(memory.buffer);
  const bytes = Buffer.from(memory.buffer);
  const abort = (what: string) => (): never => {
    throw new EngineAbortError(what);
  };
  const own: Record<string, (...values: never[]) => unknown> = {
    b: abort('an assertion failed'),
    q: abort('abort() was called'),
    r: abort('exit() was called'),
    // Process timers and keep-alive: nothing uses them.
    l: () => undefined,
    j: () => 0,
    p: () => host.clock(),
    k: () => {
      host.exhausted();
      return 0;
    },
    // Environment: empty.
    e: () => 0,
    f: (countAddress: number, sizeAddress: number) => {
      view.setUint32(countAddress, 0, true);
      view.setUint32(sizeAddress, 0, true);
      return 0;
    },
    // Time zone: UTC, without daylight saving.
    n: (offsetAddress: number, daylightAddress: number, standardName: number, daylightName: number) => {
      view.setInt32(offsetAddress, 0, true);
      view.setInt32(daylightAddress, 0, true);
      bytes.write('UTC\0', standardName, 'latin1');
      bytes.write('UTC\0', daylightName, 'latin1');
    },
    m: (seconds: bigint, address: number) => writeUtc(view, seconds, address),
    // Files: writes are swallowed, all else fails.
    d: () => 52,
    o: () => 70,
    c: (_file: number, vectors: number, count: number, writtenAddress: number) => {
      let written = 0;
      for (let i = 0; i < count; i += 1) written += view.getUint32(vectors + i * 8 + 4, true);
      view.setUint32(writtenAddress, written, true);
      return 0;
    },
  };
  const imports: WebAssembly.ModuleImports = {};
  for (const name of names) imports[name] = (KEPT.has(name) ? given[name] : own[name]) as WebAssembly.ImportValue;
  return imports;
}

/** Fills a C `struct tm` for a time in UTC. */
function writeUtc(view: DataView, seconds: bigint, address: number): void {
  const date = new Date(Number(seconds) * 1000);
  const year = date.getUTCFullYear();
  const fields = [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth(),
    year - 1900,
    date.getUTCDay(),
    Math.floor((Date.UTC(year, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(year, 0, 1)) / 86_400_000),
    0,
    0,
  ];
  fields.forEach((field, index) => view.setInt32(address + index * 4, field, true));
}
