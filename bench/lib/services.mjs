import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../dist/apps/embedded/src/services/postgres.js';
import { redisProgram } from '../../dist/apps/embedded/src/services/redis-install.js';
import { startRedis } from '../../dist/apps/embedded/src/services/redis.js';
import { startApp } from '../../dist/apps/embedded/src/app-process.js';
import { freePort } from '../../dist/apps/embedded/src/services/free-port.js';
import { migrate } from '../../dist/prisma/migrate.js';
import { send } from './http.mjs';

/** Real services with their usual durability (Postgres fsync on), in a folder that goes with them. */
export async function startServices() {
  const folder = mkdtempSync(join(tmpdir(), 'cellar-bench-'));
  chmodSync(folder, 0o711);
  const password = randomBytes(12).toString('hex');
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    logFile: join(folder, 'postgres.log'),
    password,
  });
  const program = redisProgram({ path: process.env.PATH ?? '', isRoot: process.getuid?.() === 0, report: console.log });
  const redis = await startRedis({
    program,
    dataDir: join(folder, 'redis'),
    logFile: join(folder, 'redis.log'),
    password,
  });
  await migrate(postgres.url);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    folder,
    async stop() {
      await redis[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One API and one worker process, with a tenant and a conversation. */
export async function startCellar({ databaseUrl, redisUrl, folder }, env = {}) {
  const port = await freePort();
  const workerPort = await freePort();
  const adminKey = randomBytes(16).toString('hex');
  const shared = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    CELLAR_ADMIN_KEY: adminKey,
    CELLAR_SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    ...env,
  };
  const start = (app, more) =>
    startApp({ app, root: process.cwd(), env: { ...shared, ...more }, logFile: join(folder, `${app}.log`) });
  const apps = [
    await start('api', { PORT: String(port), HOST: '127.0.0.1' }),
    await start('worker', { CELLAR_WORKER_PORT: String(workerPort), HOST: '127.0.0.1' }),
  ];
  const url = `http://127.0.0.1:${port}`;
  await ready(`${url}/health/ready`);
  await ready(`http://127.0.0.1:${workerPort}/health/ready`);
  const admin = await post(`${url}/admin/tenants`, adminKey, { name: 'bench' });
  const { key } = await post(`${url}/admin/tenants/${admin.tenantId}/keys`, adminKey, {});
  await send('PUT', `${url}/v1/conversations/bench`, key, { kind: 'direct' });
  const metrics = async () => {
    const text = await (await fetch(`http://127.0.0.1:${workerPort}/metrics`)).text();
    return Object.fromEntries(
      [...text.matchAll(/sandbox_threads\{.*state="(\w+)".*\} (\d+)/g)].map(([, k, v]) => [k, Number(v)]),
    );
  };
  return { url, key, metrics, workerPid: apps[1].pid, stop: () => Promise.all(apps.map((app) => app.stop())) };
}

async function ready(url) {
  for (let i = 0; i < 600; i++) {
    const ok = await fetch(url).then(
      (r) => r.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not become ready`);
}

const post = (url, key, body) => send('POST', url, key, body);
