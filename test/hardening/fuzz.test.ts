import { CELL_ERROR_CODES, InvalidPragmaError, type OutputItem } from '#libs/core';
import { formatResult, parseCodemodeSource, parseExecSource } from '#libs/script';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseFromThread, parseToThread } from '../../libs/sandbox/src/protocol.js';
import { length, report } from './length.js';
import { fromThread, toThread } from './messages.js';

type Given<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never;

const TIMEOUT_MS = 3_600_000;
const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withSparseArray: true });

/** A message with some of its parts, at any depth, replaced or removed. */
function damaged(messages: readonly object[]): fc.Arbitrary<unknown> {
  const change = fc.record({ at: fc.nat(), part: fc.oneof(anything, fc.constant(undefined)), removes: fc.boolean() });
  return fc.tuple(fc.constantFrom(...messages), fc.array(change, { maxLength: 4 })).map(([message, changes]) => {
    const copy = structuredClone(message);
    for (const { at, part, removes } of changes) {
      const places = placesOf(copy);
      const place = places[at % places.length];
      if (!place) continue;
      if (removes) Reflect.deleteProperty(place.holder, place.key);
      else Reflect.set(place.holder, place.key, part);
    }
    return copy;
  });
}

function placesOf(value: unknown, depth = 0): { holder: object; key: string }[] {
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  return Object.keys(value).flatMap((key) => [{ holder: value, key }, ...placesOf(Reflect.get(value, key), depth + 1)]);
}

it.each([
  ['to threads', toThread, parseToThread],
  ['from threads', fromThread, parseFromThread],
] as const)(
  'messages %s are taken as they are or not at all',
  (what, messages, parse) => {
    for (const message of messages) expect(parse(message)).toBe(message);
    const taken = { yes: 0, no: 0 };
    const check = (message: unknown): void => {
      const parsed = parse(message);
      if (parsed === undefined) taken.no += 1;
      else {
        taken.yes += 1;
        expect(parsed).toBe(message);
        // What it is told by, and where it belongs, was checked whatever else it holds.
        expect(messages.map((known: { type: string }) => known.type)).toContain(parsed.type);
      }
    };
    fc.assert(fc.property(fc.oneof(anything, damaged(messages)), check), { numRuns: length.fuzzRuns });
    report(`messages ${what}`, taken);
    expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

it(
  'first lines are read or refused as such, and keep the lines of the script',
  () => {
    const piece = fc.oneof(
      fc.constantFrom('// @exec:', '// @options:', '{', '}', '"', ':', ',', 'yield_time_ms', 'max_output_tokens'),
      fc.constantFrom('timeout_ms', '"timeout_ms": 1', '{"yield_time_ms": 0}', '\n', '\r\n', ' ', '\t', '```js', '-1'),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.json({ maxDepth: 2 }),
    );
    const source = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    const seen = { read: 0, refused: 0 };
    const check = (text: string): void => {
      for (const parse of [parseExecSource, parseCodemodeSource]) {
        try {
          const { script, options } = parse(text);
          expect(script.split('\n')).toHaveLength(text.split('\n').length);
          for (const value of Object.values(options)) expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
          seen.read += 1;
        } catch (error) {
          if (!(error instanceof InvalidPragmaError)) throw error;
          seen.refused += 1;
        }
      }
    };
    fc.assert(fc.property(source, check), { numRuns: length.fuzzRuns });
    report('first lines', seen);
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', '\0', '\ud800', 'a\r\nb', '😀'),
);
const item: fc.Arbitrary<OutputItem> = fc.oneof(
  fc.record({ kind: fc.constantFrom('text' as const, 'console' as const), text }),
  fc.record({
    kind: fc.constantFrom('image' as const, 'audio' as const),
    data: fc.base64String({ maxLength: 400 }),
    mimeType: fc.constant('image/png'),
  }),
);
const result = fc.record({
  dialect: fc.constantFrom('exec' as const, 'codemode' as const),
  state: fc.constantFrom('running' as const, 'completed' as const, 'failed' as const, 'terminated' as const),
  cellId: fc.constant('c_0000000000000000'),
  wallMs: fc.nat(),
  items: fc.array(item, { maxLength: 8 }),
  warnings: fc.array(fc.record({ code: fc.constant('unhandled_rejection'), message: text }), { maxLength: 2 }),
  calls: fc.array(fc.record({ identifier: text, state: fc.constant('completed' as const) }), { maxLength: 3 }),
  maxTokens: fc.nat({ max: 200 }),
});

it(
  'results keep their files whole, and their text within the budget or the reason why not',
  () => {
    const code = fc.constantFrom(...CELL_ERROR_CODES);
    const failure = fc.option(fc.record({ code, message: text, frames: text }), { nil: undefined });
    const seen = { whole: 0, cut: 0 };
    const check = (input: Given<typeof result>, failed: Given<typeof failure>): void => {
      const { content } = formatResult({ ...input, ...(failed && { failure: failed }) });
      expect(content[0]?.type).toBe('text');
      if (input.dialect === 'codemode' && input.state === 'running') {
        expect(content).toHaveLength(1);
        return;
      }
      const files = input.items.flatMap((one) => ('data' in one ? [[one.kind, one.data]] : []));
      expect(content.flatMap((block) => (block.type === 'text' ? [] : [[block.type, block.data]]))).toEqual(files);
      const texts = content.slice(1).flatMap((block) => (block.type === 'text' ? [block.text] : []));
      const isCut = texts[0]?.startsWith('Warning: truncated output (original token count: ') ?? false;
      seen[isCut ? 'cut' : 'whole'] += 1;
      // Head and tail together are at most four bytes per token; the rest is what says that it was cut.
      if (isCut) expect(Buffer.byteLength(texts.join('\n'))).toBeLessThan(input.maxTokens * 4 + 200);
      else expect(Math.ceil(Buffer.byteLength(texts.join('\n')) / 4)).toBeLessThanOrEqual(input.maxTokens);
    };
    fc.assert(fc.property(result, failure, check), { numRuns: length.fuzzRuns });
    report('results', seen);
    expect(Math.min(seen.whole, seen.cut)).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
