import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyBudget, estimateTokens, utf8Bytes } from './budget.js';

const CUT = /^Warning: truncated output \(original token count: (\d+)\)\nTotal output lines: (\d+)\n\n([^]*)$/;

describe('applyBudget', () => {
  test.each<[texts: string[], maxTokens: number]>([
    [[], 0],
    [[''], 0],
    [['abcd'], 1],
    [['ab', 'c'], 1],
    [['é'.repeat(10)], 5],
    [['x'.repeat(40)], 10],
  ])('%j fits into %i', (texts, maxTokens) => {
    expect(applyBudget(texts, maxTokens)).toBeUndefined();
  });

  test.each<[texts: string[], maxTokens: number, tokens: number, lines: number, body: string]>([
    [['0123456789'.repeat(4)], 5, 10, 1, '0123456789...5 tokens truncated...0123456789'],
    [['abcde'], 1, 2, 1, 'ab...1 tokens truncated...de'],
    [['ab', 'cd'], 1, 2, 2, 'ab...1 tokens truncated...cd'],
    [['', ''], 0, 1, 1, '...1 tokens truncated...'],
    [['one\ntwo\n', 'three\n'], 0, 4, 4, '...4 tokens truncated...'],
    [['x'.repeat(41)], 10, 11, 1, `${'x'.repeat(20)}...1 tokens truncated...${'x'.repeat(20)}`],
    [['ééé'], 1, 2, 1, 'é...1 tokens truncated...é'],
    [['€€€'], 1, 3, 1, '...3 tokens truncated...'],
    [['😀😀😀'], 2, 3, 1, '😀...1 tokens truncated...😀'],
    [['a😀😀😀b'], 2, 4, 1, 'a...3 tokens truncated...b'],
    [['\ud800\udbff\0\udc00\udfff'], 2, 4, 1, '\ud800...2 tokens truncated...\udfff'],
  ])('%j is cut to %i', (texts, maxTokens, tokens, lines, body) => {
    const cut = `Warning: truncated output (original token count: ${tokens})\nTotal output lines: ${lines}\n\n${body}`;
    expect(applyBudget(texts, maxTokens)).toEqual({ cut, full: texts.join('\n') });
  });

  test('keeps as much of both ends as fits, between characters, and counts what it left out', () => {
    const unit = fc.oneof(
      fc.constantFrom('a', '\n', '\0', 'é', '€', '😀', '\ud800', '\udc00', '\udbff', '\udfff'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const texts = fc.array(fc.string({ unit, maxLength: 30 }), { maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.nat({ max: 30 }), (given, maxTokens) => {
        const full = given.join('\n');
        const bytes = utf8Bytes(full);
        const result = applyBudget(given, maxTokens);
        expect(result === undefined).toBe(estimateTokens(bytes) <= maxTokens);
        if (result === undefined) return;
        const [, tokens, , body = ''] = CUT.exec(result.cut) ?? [];
        expect(Number(tokens)).toBe(estimateTokens(bytes));
        // An independent reading: whole characters from each end, up to twice the budget in bytes.
        const characters = [...full];
        const take = (from: string[]): string[] => {
          const taken: string[] = [];
          let used = 0;
          for (const character of from) {
            used += utf8Bytes(character);
            if (used > 2 * maxTokens) break;
            taken.push(character);
          }
          return taken;
        };
        const head = take(characters).join('');
        const tail = take(characters.toReversed()).toReversed().join('');
        const removed = estimateTokens(bytes - utf8Bytes(head) - utf8Bytes(tail));
        expect(body).toBe(`${head}...${removed} tokens truncated...${tail}`);
        expect(full.startsWith(head) && full.endsWith(tail)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
