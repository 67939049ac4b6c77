import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ImageFileError, packImage, unpackImage, type RunningCell, type WaitingScript } from '#libs/sandbox';
import { TestPool, deaf, testBasis } from '../test/run-script.js';
import { testView } from '../test/test-view.js';

const view = testView([{ name: 'ask' }]);

describe('a script that is taken out of its pool', () => {
  let pools: TestPool[] = [];
  afterEach(async () => {
    for (const pool of pools) await pool.close();
    pools = [];
  });
  const newPool = async (): Promise<TestPool> => {
    const pool = await TestPool.create(1);
    pools.push(pool);
    return pool;
  };

  /** Runs a script until it waits (and `ready` says so), and takes it out. */
  async function takenOut(pool: TestPool, source: string, ready = async () => {}): Promise<WaitingScript> {
    const cell = await new Promise<RunningCell>((onWaiting) => void pool.run(source, { view, onWaiting }));
    await ready();
    const script = await cell.takeOut();
    if (script === undefined) throw new Error('it does not wait');
    return script;
  }

  /** Goes on with it; calls are answered with their number. */
  async function goesOn(pool: TestPool, script: WaitingScript): Promise<string[]> {
    const texts: string[] = [];
    const slot = await pool.runner.acquire();
    const cell = slot.resume({ ...testBasis, view }, script, {
      ...deaf,
      output: (items) => texts.push(...items.map((item) => ('text' in item ? item.text : item.kind))),
      call: ({ callId }) => cell.settle(callId, { ok: true, json: String(callId) }),
    });
    for (const callId of script.state.openCalls) cell.settle(callId, { ok: true, json: String(callId) });
    const { state, failure } = await cell.outcome;
    return [...texts, failure?.code ?? state];
  }

  it('goes on in another pool, with its values, calls and timers', async () => {
    const [one, other] = [await newPool(), await newPool()];
    const script = await takenOut(
      one,
      `store('k', 1); const timer = new Promise((r) => setTimeout(() => r('timer'), 50_000));
       return [await tools.ask(), await tools.ask(), await timer, load('k')]`,
    );
    expect(script.state).toMatchObject({ openCalls: [1], lastCall: 1, callsMade: 1, timers: [1] });
    const [timer] = script.timers;
    expect(timer?.id).toBe(1);
    expect(timer?.inMs).toBeGreaterThan(10_000);
    expect(one.runner.stats()).toMatchObject({ idle: 1, hibernated: 0 });
    expect(await goesOn(other, { ...script, timers: [{ id: 1, inMs: 1 }] })).toEqual(['[1,2,"timer",1]', 'completed']);
  });

  it('is taken from its sleep as well, and is small', async () => {
    const [one, other] = [await newPool(), await newPool()];
    const script = await takenOut(one, 'return await tools.ask()', async () => {
      await expect.poll(() => one.runner.stats().hibernated, { timeout: 20_000 }).toBe(1);
    });
    expect((await packImage(script.image)).length).toBeLessThan(16 * 1024);
    expect(await goesOn(other, script)).toEqual(['1', 'completed']);
  });

  it('is not taken out while it has something to run, or when it has ended', async () => {
    const pool = await newPool();
    const told: unknown[] = [];
    const result = await pool.run('await tools.ask(); return 1', {
      view,
      onCall: (_call, cell) => void cell.takeOut().then((script) => told.push(script)),
      onWaiting: (cell) => {
        cell.settle(1, { ok: true, json: '1' });
        void cell.takeOut().then((script) => told.push(script));
      },
    });
    expect(result.state).toBe('completed');
    await expect.poll(() => told, { timeout: 20_000 }).toEqual([undefined, undefined]);
  });

  it('takes a large heap along', async () => {
    const [one, other] = [await newPool(), await newPool()];
    const script = await takenOut(
      one,
      'const big = new Uint8Array(60e6).fill(5); await tools.ask(); return big[59_999_999] + big.length',
    );
    const image = await unpackImage(await packImage(script.image));
    expect(await goesOn(other, { ...script, image })).toEqual(['60000005', 'completed']);
  });

  it('does not enter a pool of another version', async () => {
    const pool = await newPool();
    const script = await takenOut(pool, 'await tools.ask()');
    const image = { ...script.image, version: 'ab'.repeat(32) };
    using slot = await pool.runner.acquire();
    expect(() => slot.resume(testBasis, { ...script, image }, deaf)).toThrow(/abab.* and this pool has/);
  });

  it('ends alone when its bytes do not fit the memory', async () => {
    const pool = await newPool();
    for (const changes of [[], [1], [0xffffffff], [1, 0, 4], [1, 5_000_000, 4, 0], [1, 86_864, 4, 0x7fffffff]]) {
      const script = await takenOut(pool, 'await tools.ask()');
      const image = { ...script.image, changes: Uint32Array.from(changes).buffer };
      expect(await goesOn(pool, { ...script, image })).toEqual(['internal']);
      expect((await pool.run('return 1')).texts).toEqual(['1']);
    }
  });
});

describe('the file of an image', () => {
  const version = 'c0'.repeat(32);
  const changes = fc.uint8Array({ maxLength: 5_000 }).map((bytes) => Uint8Array.from(bytes).buffer);

  it('holds the image', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (given) => {
        expect(await unpackImage(await packImage({ version, changes: given }))).toEqual({ version, changes: given });
      }),
    );
  });

  it('is refused when it is damaged, or says that it is of another version', async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(), fc.integer({ min: 1, max: 255 }), async (given, where, mask) => {
        const file = await packImage({ version, changes: given });
        const at = where % file.length;
        file[at] = (file[at] ?? 0) ^ mask;
        const read = await unpackImage(file).catch((error: unknown) => error);
        if (read instanceof ImageFileError) return;
        // What is left are bytes of no meaning in the header of gzip.
        if ((read as { version: string }).version === version) expect(read).toEqual({ version, changes: given });
      }),
    );
  });

  it('is refused when it ends too early, is empty, or would be too large', async () => {
    const file = await packImage({ version, changes: new ArrayBuffer(1_000) });
    for (const length of [0, 7, 43, 44, 60, file.length - 1]) {
      await expect(unpackImage(file.subarray(0, length))).rejects.toThrow(ImageFileError);
    }
    file.writeUInt32LE(0xffffffff, 40);
    await expect(unpackImage(file)).rejects.toThrow('it says that it holds 4294967295 bytes');
    file.writeUInt32LE(10, 40);
    await expect(unpackImage(file)).rejects.toThrow(ImageFileError);
  });
});

describe('an image that one process wrote', () => {
  const index = fileURLToPath(new URL('../../../dist/libs/sandbox/src/index.js', import.meta.url));
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cellar-image-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(mode: string, name: string, env: Record<string, string>): Promise<unknown> {
    const own = join(folder, name);
    mkdirSync(own);
    const script = join(own, `${name}.mjs`);
    copyFileSync(fileURLToPath(new URL('../test/image-process.mjs', import.meta.url)), script);
    const file = join(folder, 'image');
    const { stdout } = await promisify(execFile)(process.execPath, [script, index, mode, file], { cwd: own, env });
    return JSON.parse(stdout);
  }

  it('goes on in another one, with another path, locale and time zone', async () => {
    expect(await run('write', 'writer', { TZ: 'Asia/Tokyo', LANG: 'ja_JP.UTF-8' })).toEqual(['before']);
    const other = { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', MORE: 'x'.repeat(5_000) };
    expect(await run('resume', 'a-much-longer-name-than-the-one-of-the-writer', other)).toEqual([
      'completed',
      '[3,["y12","y13"],42,2,1,"found",4,true,false,false,"1234.5"]',
    ]);
  });
});
