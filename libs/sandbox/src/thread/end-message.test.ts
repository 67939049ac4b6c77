import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseEndMessage } from './end-message.js';

const failure = { code: 'script_error', message: 'null', frames: '', exhausted: true };
const json = (value: object): string =>
  JSON.stringify({
    writes: [
      ['k', '1'],
      ['gone', null],
    ],
    leaving: false,
    warnings: ['w'],
    ...value,
  });
const writes = [
  { key: 'k', json: '1' },
  { key: 'gone', json: null },
];

it('reads a success', () => {
  expect(parseEndMessage(json({ failure: null, leaving: true }), false)).toEqual({
    end: { kind: 'completed', writes, warnings: ['w'] },
    leaving: true,
  });
});

it('means out of memory only when the engine ran out of it', () => {
  expect(parseEndMessage(json({ failure }), false).end).toMatchObject({ code: 'script_error', message: 'null' });
  expect(parseEndMessage(json({ failure }), true).end).toMatchObject({ code: 'out_of_memory' });
  const own = { ...failure, exhausted: false };
  expect(parseEndMessage(json({ failure: own }), true).end).toMatchObject({ code: 'script_error', writes });
});

it('cuts message and frames to the limit together', () => {
  const long = { ...failure, message: 'é'.repeat(30_000), frames: 'f'.repeat(30_000) };
  const { end } = parseEndMessage(json({ failure: long }), false);
  const size = end.kind === 'failed' ? Buffer.byteLength(end.message) + Buffer.byteLength(end.frames) : 0;
  expect(size).toBe(16_384);
});

it('throws for anything else', () => {
  for (const wrong of [
    '',
    '[]',
    '{}',
    'null',
    json({ failure: 5 }),
    json({ failure: { ...failure, code: 'cpu_limit' } }),
    json({ failure: null, writes: [[1, '1']] }),
    json({ failure: null, warnings: [1] }),
    json({ failure: null, warnings: Array(17).fill('w') }),
  ]) {
    expect(() => parseEndMessage(wrong, false)).toThrow();
  }
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(() => parseEndMessage(text, false)).toThrow();
    }),
  );
});
