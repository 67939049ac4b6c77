import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startApp } from '../../../apps/embedded/src/app-process.js';
import { freePort } from '../../../apps/embedded/src/services/free-port.js';
import { CellarClient } from './client.js';
import { testDatabase } from './database.js';
import { eventually } from './eventually.js';
import { testRedis } from './redis.js';

/** How large a cluster is, and what its processes are told beside where their services are. */
export interface ClusterOptions {
  apis?: number;
  workers?: number;
  env?: NodeJS.ProcessEnv;
}

/** A process of a cluster. */
export interface ClusterProcess {
  readonly pid: number;
  readonly url: string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Sends a signal to this process, by its pid. */
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL when it takes longer than `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

const root = process.cwd();
const READY_MS = 30_000;

/** API and worker processes as in production, on a database and a part of Redis of their own. */
export class Cluster implements AsyncDisposable {
  readonly apis: ClusterProcess[] = [];
  readonly workers: ClusterProcess[] = [];
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly adminKey = randomBytes(16).toString('hex');
  readonly #env: NodeJS.ProcessEnv;
  readonly #logs: string;
  readonly #database: AsyncDisposable;

  private constructor(
    env: NodeJS.ProcessEnv,
    database: AsyncDisposable & { url: string },
    redis: { url: string; prefix: string },
  ) {
    this.#logs = mkdtempSync(join(tmpdir(), 'cellar-cluster-'));
    this.#database = database;
    this.databaseUrl = database.url;
    this.redisUrl = redis.url;
    this.redisPrefix = redis.prefix;
    this.#env = {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '8',
      REDIS_URL: redis.url,
      CELLAR_REDIS_PREFIX: redis.prefix,
      CELLAR_ADMIN_KEY: this.adminKey,
      CELLAR_SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
      HOST: '127.0.0.1',
      WORKER_SLOTS: '2',
      CELLAR_DRAIN_MS: '1000',
      LOG_LEVEL: 'info',
      ...env,
    };
  }

  /** Starts the processes (one of each by default) and waits until all are ready. */
  static async start({ apis = 1, workers = 1, env = {} }: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(env, await testDatabase(), await testRedis());
    try {
      await Promise.all([
        ...Array.from({ length: apis }, () => cluster.startApi()),
        ...Array.from({ length: workers }, () => cluster.startWorker()),
      ]);
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  async startApi(): Promise<ClusterProcess> {
    const port = await freePort();
    return this.#start('api', { PORT: String(port) }, port, this.apis);
  }

  async startWorker(env: NodeJS.ProcessEnv = {}): Promise<ClusterProcess> {
    const port = await freePort();
    return this.#start('worker', { CELLAR_WORKER_PORT: String(port), ...env }, port, this.workers);
  }

  /** One of the API processes, by the order of their start. */
  api(index = 0): ClusterProcess {
    return processAt(this.apis, index);
  }

  /** One of the worker processes, by the order of their start. */
  worker(index = 0): ClusterProcess {
    return processAt(this.workers, index);
  }

  /** A client of the first API process, as a new tenant of its own. */
  async tenant(name = 'a tenant'): Promise<CellarClient> {
    const { url } = this.api();
    const admin = new CellarClient(url, this.adminKey);
    const { tenantId } = await admin.ok<{ tenantId: string }>('POST', '/admin/tenants', { name });
    const { key } = await admin.ok<{ key: string }>('POST', `/admin/tenants/${tenantId}/keys`, {});
    return new CellarClient(url, key);
  }

  /** The names of all that this cluster has in Redis, sorted. */
  redisKeys(): Promise<string[]> {
    return this.#withRedis(async (redis) => (await redis.keys(`{${this.redisPrefix}}*`)).sort());
  }

  /** Takes all that this cluster has in Redis away. */
  async emptyRedis(): Promise<void> {
    const keys = await this.redisKeys();
    if (keys.length > 0) await this.#withRedis((redis) => redis.del(keys));
  }

  async #withRedis<Result>(use: (redis: Redis) => Promise<Result>): Promise<Result> {
    const redis = new Redis(this.redisUrl);
    try {
      return await use(redis);
    } finally {
      redis.disconnect();
    }
  }

  /** All that the processes have logged. */
  logs(): string {
    return ['api', 'worker'].map((app) => readLog(join(this.#logs, `${app}.log`))).join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.apis, ...this.workers].map((one) => one.stop(10_000)));
    rmSync(this.#logs, { recursive: true, force: true });
    await this.#database[Symbol.asyncDispose]();
  }

  async #start(
    app: 'api' | 'worker',
    env: NodeJS.ProcessEnv,
    port: number,
    into: ClusterProcess[],
  ): Promise<ClusterProcess> {
    const running = await startApp({
      app,
      root,
      env: { ...this.#env, ...env },
      logFile: join(this.#logs, `${app}.log`),
    });
    const url = `http://127.0.0.1:${port}`;
    const one: ClusterProcess = {
      pid: running.pid,
      url,
      exited: running.exited,
      signal: (signal) => void process.kill(running.pid, signal),
      stop: (graceMs) => running.stop(graceMs),
    };
    into.push(one);
    const died = running.exited.then((code) => {
      throw new Error(
        `A ${app} process ended with exit code ${code} before it was ready:\n${this.logs().slice(-4_000)}`,
      );
    });
    await Promise.race([
      died,
      eventually(async () => (await fetch(`${url}/health/ready`)).ok, { withinMs: READY_MS, everyMs: 50 }),
    ]);
    died.catch(() => undefined);
    return one;
  }
}

function processAt(processes: readonly ClusterProcess[], index: number): ClusterProcess {
  const found = processes[index];
  if (!found) throw new RangeError(`There are ${processes.length} such processes, and none at ${index}.`);
  return found;
}

function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
