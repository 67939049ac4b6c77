import { Buffer } from 'node:buffer';

const EXPORTS = 7;
const TABLE = 1;
const NAME = 'table';

/**
 * The engine's binary with its function table exported as `table`, and nothing else changed. The package has no way to
 * install the engine's hook for rejected promises, which is a function of that table (see thread/rejection-hook.ts).
 * Throws an Error when the bytes hold no export section.
 */
export function exportTable(binary: Uint8Array): Uint8Array<ArrayBuffer> {
  const headerBytes = 8;
  for (let at = headerBytes; at < binary.length;) {
    const size = readNumber(binary, at + 1);
    const end = size.next + size.value;
    if (binary[at] === EXPORTS) {
      const count = readNumber(binary, size.next);
      const entry = [NAME.length, ...Buffer.from(NAME), TABLE, 0];
      const body = [...writeNumber(count.value + 1), ...binary.subarray(count.next, end), ...entry];
      const section = [EXPORTS, ...writeNumber(body.length), ...body];
      return Uint8Array.from([...binary.subarray(0, at), ...section, ...binary.subarray(end)]);
    }
    at = end;
  }
  throw new Error('The engine is not the pinned one: it exports nothing.');
}

/** Reads an unsigned LEB128 number. */
function readNumber(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  for (let at = start, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return { value: value >>> 0, next: at + 1 };
  }
}

function writeNumber(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
