import '../webassembly.js';

/**
 * What the engine calls when a promise is rejected that nobody handles yet (`handled` 0), and when somebody comes to
 * handle it after all (1). The engine's values are 64-bit words.
 */
export type RejectionHook = (context: number, promise: bigint, reason: bigint, handled: number, opaque: number) => void;

/** A module that imports one function of the hook's type and exports it: only such functions may stand in a table. */
const ADAPTER = new WebAssembly.Module(
  Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // Type 0: (i32, i64, i64, i32, i32) -> ().
    ...[0x01, 0x09, 0x01, 0x60, 0x05, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0x00],
    // Import "e" "t" of type 0.
    ...[0x02, 0x07, 0x01, 0x01, 0x65, 0x01, 0x74, 0x00, 0x00],
    // Export "t".
    ...[0x07, 0x05, 0x01, 0x01, 0x74, 0x00, 0x00],
  ]),
);

/** Puts a hook into an engine's table; its position, which is the same in every fresh instance. */
export function addRejectionHook(table: WebAssembly.Table, hook: RejectionHook): number {
  const { exports } = new WebAssembly.Instance(ADAPTER, { e: { t: hook } });
  const position = table.grow(1);
  table.set(position, exports['t']);
  return position;
}
