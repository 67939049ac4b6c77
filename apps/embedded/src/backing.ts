import type { EmbeddedConfig } from '#libs/config';
import type { Home } from './home.js';
import { KeepAlive } from './keep-alive.js';
import { postgresDataDir } from './postgres-home.js';
import type { Progress } from './progress.js';
import type { Secrets } from './secrets.js';
import { freePort } from './services/free-port.js';
import { startPostgres } from './services/postgres.js';
import { redisProgram } from './services/redis-install.js';
import { startRedis } from './services/redis.js';
import type { Service } from './services/service.js';

/** The databases behind the apps. */
export interface Backing {
  databaseUrl: string;
  redisUrl: string;
}

/** What starting the databases needs to know. */
export interface BackingOptions {
  config: EmbeddedConfig;
  /** To find Redis by. */
  path: string;
  home: Home;
  secrets: Secrets;
  progress: Progress;
  /** Given each service as soon as it runs, to be disposed of later, the last one first. */
  keep: (service: AsyncDisposable) => void;
}

/** Starts a service and keeps it alive. It keeps its port, so that its address stays good. */
async function keptAlive(
  name: string,
  start: () => Promise<Service>,
  { progress, keep }: BackingOptions,
): Promise<Service> {
  const kept = await progress.step(`Starting ${name}`, () =>
    KeepAlive.start({
      start,
      onDeath: (_code, pauseMs) =>
        progress.line(`${name} ended unexpectedly; starting it again in ${pauseMs / 1000} s`),
      onRestart: () => progress.line(`${name} runs again`),
    }),
  );
  keep(kept);
  return kept.current;
}

/** Brings up Postgres and Redis, unless the configuration names ones that run already. */
export async function startBacking(options: BackingOptions): Promise<Backing> {
  const { config, path, home, secrets, progress } = options;
  let { databaseUrl, redisUrl } = config;
  if (databaseUrl === undefined) {
    const files = { dataDir: postgresDataDir(home), logFile: home.file('logs/postgres.log') };
    const port = await freePort();
    const start = (): Promise<Service> => startPostgres({ ...files, password: secrets.postgresPassword, port });
    databaseUrl = (await keptAlive('Postgres', start, options)).url;
  }
  if (redisUrl === undefined) {
    const program = redisProgram({ path, isRoot: process.getuid?.() === 0, report: (line) => progress.line(line) });
    const files = { program, dataDir: home.file('redis'), logFile: home.file('logs/redis.log') };
    const port = await freePort();
    const start = (): Promise<Service> => startRedis({ ...files, password: secrets.redisPassword, port });
    redisUrl = (await keptAlive('Redis', start, options)).url;
  }
  return { databaseUrl, redisUrl };
}
