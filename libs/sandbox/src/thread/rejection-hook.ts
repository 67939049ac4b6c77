import { Buffer } from 'node:buffer';
import '../webassembly.js';

/**
 * What the engine calls when a promise is rejected that nobody handles yet (`handled` 0), and when somebody comes to
 * handle it after all (1). The engine's values are 64-bit words.
 */
export type RejectionHook = (context: number, promise: bigint, reason: bigint, handled: number, opaque: number) => void;

/** A module that imports one function of the hook's type and exports it: only such functions may stand in a table. */
const ADAPTER = new WebAssembly.Module(
  Buffer.from(
    '0061736d01000000' +
      // Type 0: (i32, i64, i64, i32, i32) -> ().
      '0109' +
      '0160057f7e7e7f7f00' +
      // Import "e" "t" of type 0.
      '0207' +
      '01016501740000' +
      // Export "t".
      '0705' +
      '0101740000',
    'hex',
  ),
);

/** Puts a hook into an engine's table; its position, which is the same in every fresh instance. */
export function addRejectionHook(table: WebAssembly.Table, hook: RejectionHook): number {
  const { exports } = new WebAssembly.Instance(ADAPTER, { e: { t: hook } });
  const position = table.grow(1);
  table.set(position, exports['t']);
  return position;
}
