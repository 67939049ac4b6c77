import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../../apps/embedded/src/services/postgres.js';
import { redisProgram } from '../../../apps/embedded/src/services/redis-install.js';
import { startRedis } from '../../../apps/embedded/src/services/redis.js';

/** A Postgres and a Redis for tests. */
export interface TestServices extends AsyncDisposable {
  /** Of a database whose user may make others. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Whether the Redis was started here, and so holds nothing that anybody needs. */
  readonly ownRedis: boolean;
}

/** Nothing that tests write must survive a power cut; all else is as in production. */
const HASTY_POSTGRES = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };
const HASTY_REDIS = { appendfsync: 'no', databases: '10000' };

/**
 * The services that DATABASE_URL and REDIS_URL name; those that are not named are started, real ones, with their data
 * in a new folder of the system's temporary folder. Disposing stops what was started and removes its data.
 */
export async function startTestServices(env: NodeJS.ProcessEnv = process.env): Promise<TestServices> {
  const folder = mkdtempSync(join(tmpdir(), 'cellar-test-'));
  // Postgres runs as a user of its own when the tests run as root.
  chmodSync(folder, 0o711);
  const password = randomBytes(12).toString('hex');
  const started: AsyncDisposable[] = [];
  const dispose = async (): Promise<void> => {
    for (const service of started.reverse()) await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  const keep = <T extends AsyncDisposable>(service: T): T => {
    started.push(service);
    return service;
  };
  const postgres = async (): Promise<string> => {
    const files = { dataDir: join(folder, 'postgres'), logFile: join(folder, 'postgres.log') };
    return keep(await startPostgres({ ...files, password, settings: HASTY_POSTGRES })).url;
  };
  const redis = async (): Promise<string> => {
    const isRoot = process.getuid?.() === 0;
    const program = redisProgram({ path: env['PATH'] ?? '', isRoot, report: (line) => console.log(line) });
    const files = { dataDir: join(folder, 'redis'), logFile: join(folder, 'redis.log') };
    return keep(await startRedis({ program, ...files, password, settings: HASTY_REDIS })).url;
  };
  try {
    const databaseUrl = env['DATABASE_URL'] || (await postgres());
    const redisUrl = env['REDIS_URL'] || (await redis());
    return { databaseUrl, redisUrl, ownRedis: !env['REDIS_URL'], [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
