import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OutputItem } from '#libs/core';
import { OutputJournal } from './journal.js';

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('\0', '\ud800', '😀'), fc.string({ unit: 'binary', maxLength: 1 })),
});
const item = fc
  .tuple(fc.boolean(), text)
  .map(([isText, value]): OutputItem => ({ kind: isText ? 'text' : 'console', text: value }));

it('gives back what was noted in the batch that was not posted', () => {
  fc.assert(
    fc.property(fc.array(fc.array(item), { minLength: 1 }), (batches) => {
      const shared = OutputJournal.allocate();
      const thread = new OutputJournal(shared);
      batches.forEach((items, index) => {
        thread.begin(index + 1);
        for (const one of items) expect(thread.append(one)).toBe(true);
      });
      const main = new OutputJournal(shared);
      expect(main.unposted(batches.length - 1)).toEqual(batches.at(-1));
      expect(main.unposted(batches.length)).toEqual([]);
      expect(main.unposted(batches.length - 2)).toEqual([]);
    }),
  );
});

it('says when an item does not fit, and keeps what was there', () => {
  const shared = OutputJournal.allocate();
  const thread = new OutputJournal(shared);
  thread.begin(1);
  const small: OutputItem = { kind: 'text', text: 'small' };
  expect(thread.append(small)).toBe(true);
  expect(thread.append({ kind: 'text', text: 'x'.repeat(32 * 1024) })).toBe(false);
  expect(new OutputJournal(shared).unposted(0)).toEqual([small]);
});

it('is empty in a thread that has run nothing', () => {
  expect(new OutputJournal(OutputJournal.allocate()).unposted(0)).toEqual([]);
});
