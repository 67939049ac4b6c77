import { expect, it } from 'vitest';
import { Cluster } from '../../libs/testing/src/index.js';
import { Cells } from './cells.js';
import { length, report } from './length.js';
import { Footprint } from './footprint.js';

const AT_A_TIME = 12;

it('mixed cells leave nothing behind, however many there are', async () => {
  await using cluster = await Cluster.start();
  const cells = await Cells.create(cluster);
  const warmUp = Math.ceil(length.cells / 5);
  await cells.play(0, warmUp, AT_A_TIME);
  const before = await Footprint.take(cluster);
  const startedAt = performance.now();
  await cells.play(warmUp, length.cells, AT_A_TIME);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await Footprint.take(cluster);
  report('soak', {
    cells: length.cells,
    perSecond: Math.round((length.cells - warmUp) / seconds),
    ends: cells.ends,
    before: before.figures,
    after: after.figures,
  });
  expect(cells.wrong).toEqual([]);
  expect(after.slots).toEqual(before.slots);
  expect(after.figures.threads).toBeLessThanOrEqual(before.figures.threads);
  // A connection more or less comes and goes with the load; what leaks, leaks with every cell.
  expect(after.figures.files).toBeLessThanOrEqual(before.figures.files + 8);
  expect(after.redisKeys.filter((key) => !before.redisKeys.includes(key))).toEqual([]);
  expect(after.unfinished).toEqual({ cells: 0, calls: 0 });
  expect(after.figures.workerMiB).toBeLessThan(before.figures.workerMiB * (1 + length.maxGrowth));
  expect(after.figures.apiMiB).toBeLessThan(before.figures.apiMiB * (1 + length.maxGrowth));
}, 3_600_000);
