import { describe, expect, it } from 'vitest';
import { Cluster, eventually, testDatabase, testRedis, textsOf } from '../../libs/testing/src/index.js';
import { TcpGate } from './tcp-gate.js';

describe('a worker process', () => {
  it('ends with code 0 while Redis is away', async () => {
    const redis = await testRedis();
    await using gate = new TcpGate(redis.url);
    await gate.open();
    await using cluster = await Cluster.start({ apis: 0, env: { REDIS_URL: gate.url } });
    await gate.shut();
    cluster.worker().signal('SIGTERM');
    expect(await cluster.worker().exited).toBe(0);
  });

  it('ends with code 0 while Postgres is away', async () => {
    await using own = await testDatabase();
    await using gate = new TcpGate(own.url);
    await gate.open();
    await using cluster = await Cluster.start({ apis: 0, env: { DATABASE_URL: gate.url } });
    await gate.shut();
    cluster.worker().signal('SIGTERM');
    expect(await cluster.worker().exited).toBe(0);
  });

  it('takes cells again after Redis was away, without a restart', async () => {
    const redis = await testRedis();
    await using gate = new TcpGate(redis.url);
    await gate.open();
    await using cluster = await Cluster.start({ env: { REDIS_URL: gate.url } });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    await conversation.exec('text(1)');
    await gate.shut();
    const away = await tenant.problem('POST', `${conversation.path}/exec`, { source: 'text(2)' });
    expect(away).toMatchObject({ status: 503, code: 'unavailable' });
    await eventually(async () => (await fetch(`${cluster.worker().url}/health/ready`)).status === 503);
    await gate.open();
    const result = await eventually(() => conversation.exec('text(3)'), { withinMs: 30_000, everyMs: 250 });
    expect(textsOf(result)).toEqual(['3']);
  });

  it('commits what a cell reached when Postgres was away at its end', async () => {
    await using own = await testDatabase();
    await using gate = new TcpGate(own.url);
    await gate.open();
    await using cluster = await Cluster.start({ workers: 0, env: { DATABASE_URL: own.url } });
    await cluster.startWorker({ DATABASE_URL: gate.url });
    const tenant = await cluster.tenant();
    const conversation = await tenant.conversation();
    const first = await conversation.exec(
      "text('a'); yield_control(); await new Promise(r => setTimeout(r, 1000)); store('k', 1); text('b')",
    );
    expect(textsOf(first)).toEqual(['a']);
    await gate.shut();
    const waiting = conversation.wait(first.cellId, { yield_time_ms: 30_000 });
    await eventually(() => cluster.logs().includes('the heartbeat was not written'));
    await gate.open();
    const last = await waiting;
    expect(last.state).toBe('completed');
    expect(textsOf(last)).toEqual(['b']);
    expect(textsOf(await conversation.exec("text(load('k'))"))).toEqual(['1']);
  });
});
