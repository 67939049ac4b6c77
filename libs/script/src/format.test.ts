import { type OutputItem, artifactIdOf } from '#libs/core';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { formatResult, type FormatInput } from './format.js';

const base: FormatInput = {
  dialect: 'exec',
  state: 'completed',
  cellId: 'c_0123456789ABCDEF',
  wallMs: 1_249,
  items: [],
  maxTokens: 10_000,
};
const text = (value: string): OutputItem => ({ kind: 'text', text: value });
const saved = (full: string): string =>
  `[Full output saved as ${artifactIdOf(base.cellId, `output ${createHash('sha256').update(full).digest('base64url')}`)}]`;
const line = (value: string): OutputItem => ({ kind: 'console', text: value });
const texts = (input: Partial<FormatInput>): string[] =>
  formatResult({ ...base, ...input }).content.map((block) =>
    block.type === 'text' ? block.text : `${block.type}:${block.data}`,
  );
const shown = (input: Partial<FormatInput>): string[] => texts(input).slice(1);

describe('header', () => {
  test.each([
    ['completed', 'Script completed'],
    ['failed', 'Script failed'],
    ['terminated', 'Script terminated'],
    ['running', 'Script running with cell ID c_0123456789ABCDEF'],
  ] as const)('%s', (state, status) => {
    expect(texts({ state })).toEqual([`${status}\nWall time 1.2 seconds\nOutput:\n`]);
  });

  test('a running codemode cell shows nothing else', () => {
    expect(
      texts({ dialect: 'codemode', state: 'running', items: [text('a')], warnings: [{ code: 'w', message: 'm' }] }),
    ).toHaveLength(1);
  });
});

describe('items', () => {
  test('come in the order of the calls, console lines last in one block', () => {
    expect(shown({ items: [line('a 1 {"b":2}'), text('first'), line('bad'), text('')] })).toEqual([
      'first',
      '',
      '<console_output>\na 1 {"b":2}\nbad\n</console_output>',
    ]);
  });

  test('of codemode are counted when there are several, and nothing else is', () => {
    expect(shown({ dialect: 'codemode', items: [text('only'), line('l')] })[0]).toBe('only');
    expect(
      shown({
        dialect: 'codemode',
        state: 'failed',
        items: [text('a'), line('l'), text('b')],
        failure: { code: 'script_error', message: 'Error: x' },
        warnings: [{ code: 'w', message: 'careful' }],
      }),
    ).toEqual([
      '==> text 1/2 <==\na',
      '==> text 2/2 <==\nb',
      'Script error:\nError: x',
      'Warning: careful',
      '<console_output>\nl\n</console_output>',
    ]);
    expect(shown({ items: [text('a'), text('b')] })).toEqual(['a', 'b']);
  });

  test('a failure shows its frames and the calls before it', () => {
    const failure = { code: 'script_error', message: 'Error: boom', frames: '    at script.js:3:7' } as const;
    const calls = [
      { identifier: 'echo', state: 'completed' },
      { identifier: 'write', state: 'failed' },
    ] as const;
    expect(shown({ state: 'failed', items: [text('before')], failure, calls })).toEqual([
      'before',
      'Script error:\nError: boom\n    at script.js:3:7\n' +
        'Tool calls made before the failure (they are not undone): echo (completed), write (failed)',
    ]);
  });

  test('a kind that is not known is refused, not dropped', () => {
    const items = [{ kind: 'smell', text: 'x' }] as unknown as OutputItem[];
    expect(() => formatResult({ ...base, items })).toThrow('Unknown kind');
  });
});

describe('files', () => {
  const png: OutputItem = { kind: 'image', data: 'iVBORw0KGg==', mimeType: 'image/png' };
  const wav: OutputItem = { kind: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };

  test('stand where they were shown, images after their name', () => {
    const kept: OutputItem = { ...png, artifactId: 'a_2' };
    const { content } = formatResult({ ...base, items: [text('a'), png, kept, text('b'), wav, line('l')] });
    expect(content.slice(1)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'iVBORw0KGg==', mimeType: 'image/png' },
      { type: 'text', text: '[Image saved as a_2 (image/png, 7 B)]' },
      { type: 'image', data: 'iVBORw0KGg==', mimeType: 'image/png' },
      { type: 'text', text: 'b' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'text', text: '<console_output>\nl\n</console_output>' },
    ]);
  });

  test('are not counted in codemode', () => {
    expect(shown({ dialect: 'codemode', items: [png, text('a')] })).toEqual(['image:iVBORw0KGg==', 'a']);
    expect(shown({ dialect: 'codemode', items: [text('a'), png, text('b')] })).toEqual([
      '==> text 1/2 <==\na',
      'image:iVBORw0KGg==',
      '==> text 2/2 <==\nb',
    ]);
  });

  test('cost no budget, and come after a text that was cut', () => {
    const items: OutputItem[] = [{ ...png, artifactId: 'a_2' }, text('abc'), wav];
    expect(shown({ items, maxTokens: 0 })).toEqual([
      'Warning: truncated output (original token count: 1)\nTotal output lines: 1\n\n...1 tokens truncated...',
      '[Image saved as a_2 (image/png, 7 B)]',
      'image:iVBORw0KGg==',
      'audio:UklGRg==',
      saved('abc'),
    ]);
  });
});

describe('budget', () => {
  const long = 'x'.repeat(50);

  test('everything but the header counts; a cut is one item', () => {
    const input = { items: [text(long), line(long)], maxTokens: 33 } as const;
    expect(shown({ ...input, maxTokens: 34 })).toHaveLength(2);
    const [cut, ...others] = shown(input);
    expect(others).toHaveLength(1);
    expect(cut).toMatch(/^Warning: truncated output \(original token count: 34\)\nTotal output lines: 4\n\n/);
    expect(cut).toMatch(/<\/console_output>$/);
  });

  test('a final answer that was cut gives its full text and names it', () => {
    const input = { ...base, items: [text(long), text('end')], maxTokens: 1 };
    const result = formatResult(input);
    expect(formatResult(input).fullText?.artifactId).toBe(result.fullText?.artifactId);
    const other = formatResult({ ...input, cellId: 'c_0000000000000000' });
    expect(other.fullText?.artifactId).not.toBe(result.fullText?.artifactId);
    expect(Buffer.from(result.fullText?.bytes ?? []).toString()).toBe(`${long}\nend`);
    expect(result.content.at(-1)).toEqual({ type: 'text', text: saved(`${long}\nend`) });
    expect(formatResult({ ...input, maxTokens: 100 })).not.toHaveProperty('fullText');
    expect(formatResult({ ...input, maxTokens: 100 }).content).toHaveLength(3);
  });

  test('a running answer that was cut keeps no full text', () => {
    const result = formatResult({ ...base, state: 'running', items: [text(long)], maxTokens: 1 });
    expect(result.fullText).toBeUndefined();
    expect(result.content).toHaveLength(2);
  });

  test('budget 0 leaves the warning and the name of the full text', () => {
    expect(shown({ items: [text('abc')], maxTokens: 0 })).toEqual([
      'Warning: truncated output (original token count: 1)\nTotal output lines: 1\n\n...1 tokens truncated...',
      saved('abc'),
    ]);
  });
});

test('texts that fit come back unchanged, NUL and lone surrogates included', () => {
  const odd = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\0', '\ud800', '\udc00'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 20 }), (values) => {
      expect(shown({ items: values.map(text), maxTokens: 100_000 })).toEqual(values);
    }),
  );
});
