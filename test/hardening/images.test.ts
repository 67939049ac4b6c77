import { expect, it } from 'vitest';
import { mutated, resumeMutated, waitingScript } from '../../libs/sandbox/test/mutations.js';
import { TestPool } from '../../libs/sandbox/test/run-script.js';
import { length, report } from './length.js';

it(
  'damaged images do no more than end their own cells',
  async () => {
    const pool = await TestPool.create(2, false);
    const script = await waitingScript(pool.runner);
    const ends: Record<string, number> = {};
    let seed = 1_000;
    const player = async (): Promise<void> => {
      while (seed < 1_000 + length.images) {
        const end = await resumeMutated(pool.runner, mutated(script, (seed += 1)));
        ends[end] = (ends[end] ?? 0) + 1;
        if (seed % 20 === 0) expect(await pool.run('return 1', { tenantId: 't_2' })).toMatchObject({ texts: ['1'] });
      }
    };
    await Promise.all([player(), player()]);
    report('damaged images', { images: length.images, ends, retired: pool.retired.length });
    await pool.close(true);
  },
  4 * 3_600_000,
);
