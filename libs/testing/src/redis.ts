import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { redisCommand } from '../../../apps/embedded/src/services/redis.js';

/** Where a test file may write in Redis. */
export interface TestRedis {
  /** With a database number that nobody else got, when the server was started for the tests. */
  readonly url: string;
  /** For names of keys, queues and channels: unique, and on a server that others use the only thing that is ours. */
  readonly prefix: string;
}

/** A part of Redis of a test file's own. Pub/sub channels know no database numbers: the prefix keeps those apart. */
export async function testRedis(): Promise<TestRedis> {
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const url = new URL(inject('redisUrl'));
  if (!inject('ownRedis')) return { url: url.href, prefix };
  const reply = await redisCommand(Number(url.port), url.password, 'INCR cellar-test:databases');
  url.pathname = `/${reply.slice(1)}`;
  return { url: url.href, prefix };
}
