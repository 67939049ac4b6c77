import { limits } from '#libs/core';
import { forkBranch } from '#libs/persistence';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreFixture } from './store-fixture.js';

const json = (value: unknown): string => JSON.stringify(value);

describe('the value log', () => {
  let store: StoreFixture;
  beforeAll(async () => (store = await StoreFixture.create()));
  afterAll(() => store[Symbol.asyncDispose]());

  it('keeps keys and values with NUL, lone surrogates and quotes unchanged', async () => {
    const key = 'a\0b\ud800"\\';
    await store.write([{ key, json: json('\0\udfff\u2028"') }]);
    expect((await store.read()).get(key)).toBe(json('\0\udfff\u2028"'));
  });

  it('refuses UPDATE, DELETE and TRUNCATE, and lets the retention job delete', async () => {
    await store.write([{ key: 'kept', json: '1' }]);
    const run = (text: string) => store.db.query({ name: text, text }, []);
    await expect(run(`UPDATE value_entries SET value = '2'`)).rejects.toThrow();
    await expect(run('DELETE FROM value_entries')).rejects.toThrow();
    await expect(run('TRUNCATE value_entries')).rejects.toThrow();
    expect((await store.read()).get('kept')).toBe('1');
    await using other = await StoreFixture.create(2);
    await other.write([{ key: 'old', json: '1' }]);
    await other.db.transaction(async (tx) => {
      await tx.query({ name: 'job', text: `SELECT set_config('cellar.retention', 'on', true)` }, []);
      await tx.query({ name: 'delete', text: 'DELETE FROM value_entries' }, []);
    });
    expect((await other.read()).size).toBe(0);
  });

  it('gives sequences without gaps in the order of commits, under parallel ends', async () => {
    await using own = await StoreFixture.create(16);
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        own.write([
          { key: `k${i % 7}`, json: json(i) },
          { key: `own${i}`, json: '1' },
        ]),
      ),
    );
    const rows = await own.db.query<{ sequence: number }>(
      { name: 'all', text: 'SELECT sequence FROM value_entries ORDER BY sequence' },
      [],
    );
    expect(rows.map((row) => row.sequence)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
    expect((await own.read()).size).toBe(47);
  });

  it('holds the limit on the merged state: of two ends that fit alone, the later one keeps nothing', async () => {
    await using own = await StoreFixture.create(8);
    const large = json('x'.repeat(200_000));
    const batch = (name: string) => Array.from({ length: 3 }, (_, i) => ({ key: `${name}${i}`, json: large }));
    const ends = await Promise.all([own.write(batch('a')), own.write(batch('b'))]);
    const failed = ends.filter((end) => end?.state === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.failure?.code).toBe('values_limit');
    const values = await own.read();
    expect(values.size).toBe(3);
    const size = [...values].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
    expect(size).toBeLessThanOrEqual(limits.valuesChars);
  });

  it('agrees with a plain model over random writes, deletions and forks', async () => {
    const keys = ['k', '', 'ключ', 'a\0b'];
    const write = fc.record({
      do: fc.constant('write' as const),
      branch: fc.nat(20),
      writes: fc.uniqueArray(
        fc.record({ key: fc.constantFrom(...keys), json: fc.option(fc.jsonValue().map(json), { nil: null }) }),
        { selector: (w) => w.key, minLength: 1, maxLength: 4 },
      ),
    });
    const fork = fc.record({ do: fc.constant('fork' as const), branch: fc.nat(20), back: fc.nat(6) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(write, fork), { maxLength: 25 }), async (steps) => {
        await using own = await StoreFixture.create(2);
        for (const { id, expected } of await new Model(own).play(steps)) expect(await own.read(id)).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });
});

type Step =
  | { do: 'write'; branch: number; writes: { key: string; json: string | null }[] }
  | { do: 'fork'; branch: number; back: number };

/** The rules of branches in the plainest form: each branch is its whole history, as a list of (sequence, key, value). */
class Model {
  readonly #branches = [{ id: 'main', log: [] as { sequence: number; key: string; json: string | null }[] }];
  #sequence = 0;

  constructor(private readonly store: StoreFixture) {}

  /** Plays the steps on the store too; the values that each branch should have then. */
  async play(steps: readonly Step[]): Promise<{ id: string; expected: Map<string, string> }[]> {
    for (const step of steps) {
      const branch = this.#branches[step.branch % this.#branches.length];
      if (!branch) continue;
      if (step.do === 'write') {
        const current = valuesOf(branch.log);
        await this.store.write(step.writes, branch.id);
        for (const { key, json } of step.writes) {
          if (json === null && !current.has(key)) continue;
          branch.log.push({ sequence: (this.#sequence += 1), key, json });
        }
      } else {
        const id = `b${this.#branches.length}`;
        const point = Math.max(0, this.#sequence - step.back);
        const { owner, db } = this.store;
        await forkBranch(db, owner, { branchId: id, parentId: branch.id, sequence: point });
        this.#branches.push({ id, log: branch.log.filter((entry) => entry.sequence <= point) });
      }
    }
    return this.#branches.map(({ id, log }) => ({ id, expected: valuesOf(log) }));
  }
}

function valuesOf(log: readonly { key: string; json: string | null }[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, json } of log) {
    if (json === null) values.delete(key);
    else values.set(key, json);
  }
  return values;
}
