import { describe, expect, it } from 'vitest';
import { TtlCache } from './ttl-cache.js';

function setUp(maxEntries = 100) {
  const time = { now: 0 };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const cache = new TtlCache<string>(clock, { ttlMs: 1_000, maxEntries });
  const loads: string[] = [];
  const load = (key: string, value = key) => cache.get(key, () => Promise.resolve((loads.push(key), value)));
  return { time, cache, loads, load };
}

describe('TtlCache', () => {
  it('loads once while the time lasts', async () => {
    const { time, loads, load } = setUp();
    expect(await load('a', 'one')).toBe('one');
    time.now = 999;
    expect(await load('a', 'two')).toBe('one');
    time.now = 1_000;
    expect(await load('a', 'two')).toBe('two');
    expect(loads).toEqual(['a', 'a']);
  });

  it('shares a load that is under way', async () => {
    const { loads, load } = setUp();
    expect(await Promise.all([load('a', 'one'), load('a', 'two')])).toEqual(['one', 'one']);
    expect(loads).toEqual(['a']);
  });

  it('counts the time from before the load', async () => {
    const { time, cache, load } = setUp();
    await cache.get('a', () => {
      time.now = 900;
      return Promise.resolve('one');
    });
    time.now = 1_000;
    expect(await load('a', 'two')).toBe('two');
  });

  it('does not remember failures', async () => {
    const { cache, load } = setUp();
    await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await load('a', 'one')).toBe('one');
  });

  it('forgets, also what is being loaded', async () => {
    const { cache, load } = setUp();
    const { promise, resolve } = withResolvers<string>();
    const stale = cache.get('a', () => promise);
    cache.forget('a');
    const fresh = load('a', 'new');
    resolve('old');
    expect(await stale).toBe('old');
    expect(await fresh).toBe('new');
    expect(await load('a', 'newer')).toBe('new');
    cache.forget('a');
    expect(await load('a', 'newer')).toBe('newer');
  });

  it('drops what was used longest ago when it is full', async () => {
    const { loads, load } = setUp(2);
    await load('a');
    await load('b');
    await load('a');
    await load('c');
    loads.length = 0;
    await load('a');
    await load('c');
    expect(loads).toEqual([]);
    await load('b');
    expect(loads).toEqual(['b']);
  });
});

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
}
