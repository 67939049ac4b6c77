import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutated, resumeMutated, waitingScript } from '../test/mutations.js';
import { TestPool } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create(2, false);
});
afterAll(() => pool.close(true));

// npm run hardening plays 10,000 of them.
it('an image with damaged bytes does no more than end its own cell', async () => {
  const script = await waitingScript(pool.runner);
  const ends = new Set<string>();
  for (let seed = 1; seed <= 50; seed += 1) {
    ends.add(await resumeMutated(pool.runner, mutated(script, seed)));
    expect((await pool.run('return [1, typeof tools.ask]', { view: testView([]) })).failure?.code).toBe('script_error');
  }
  expect(ends).toContain('completed');
  expect(ends).toContain('internal');
});
