import { expect, it } from 'vitest';
import { loadAssets } from './assets.js';
import { computeImageVersion } from './image-version.js';
import { ThreadHandle } from './thread-handle.js';

const ignore = { idle: () => undefined, retiring: () => undefined, gone: () => undefined, fault: () => undefined };

it('is pinned', async () => {
  const { imageVersion } = await loadAssets();
  expect(await computeImageVersion()).toBe(imageVersion);
});

it('does not depend on the clock, the time zone or the environment', async () => {
  const zone = process.env['TZ'];
  try {
    const first = await computeImageVersion();
    process.env['TZ'] = 'Asia/Tokyo';
    process.env['LANG'] = 'de_DE.UTF-8';
    expect(await computeImageVersion()).toBe(first);
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

it('is checked by every thread', async () => {
  const assets = await loadAssets();
  const other = { ...assets, imageVersion: 'f'.repeat(64) };
  await expect(ThreadHandle.start(other, false, ignore)).rejects.toThrow(
    /refuses to serve: the base image is .* should be ffff/,
  );
});
