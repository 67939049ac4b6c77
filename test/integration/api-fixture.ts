import { loadApiConfig } from '#libs/config';
import { Database } from '#libs/persistence';
import { createLogger } from '#libs/telemetry';
import { randomBytes } from 'node:crypto';
import { Api } from '../../apps/api/src/api.js';
import { CellarClient, testDatabase, testRedis } from '../../libs/testing/src/index.js';

/** One API in this process, on a database and a part of Redis of its own. There is no worker. */
export interface TestApi extends AsyncDisposable {
  readonly api: Api;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly admin: CellarClient;
  /** What was logged. */
  readonly log: readonly string[];
  /** A new tenant with a key. */
  tenant(): Promise<CellarClient & { tenantId: string }>;
  /** All rows of all tables, to see whether something changed. */
  rows(): Promise<Record<string, unknown[]>>;
  database: Database;
}

const TABLES = [
  'tenants',
  'api_keys',
  'conversations',
  'branches',
  'cells',
  'cell_output',
  'toolsets',
  'toolset_versions',
  'views',
  'calls',
  'value_counters',
  'value_entries',
];

/** Starts an API; `env` is added to, or replaces, what it would be told. */
export async function startTestApi(env: Record<string, string> = {}): Promise<TestApi> {
  const own = await testDatabase();
  const redis = await testRedis();
  const full = {
    DATABASE_URL: own.url,
    DATABASE_POOL_SIZE: '6',
    REDIS_URL: redis.url,
    CELLAR_REDIS_PREFIX: redis.prefix,
    CELLAR_ADMIN_KEY: randomBytes(16).toString('hex'),
    CELLAR_SECRET_KEY: newSecretKey('k1'),
    PORT: '0',
    LOG_LEVEL: 'debug',
    ...env,
  };
  const log: string[] = [];
  const logger = createLogger({
    name: 'api',
    level: 'debug',
    destination: { write: (line: string) => void log.push(line) },
  });
  const api = await Api.start(loadApiConfig(full), logger);
  const database = new Database({ url: own.url, poolSize: 2, applicationName: 'test' });
  const admin = new CellarClient(api.opsUrl ?? api.url, full.CELLAR_ADMIN_KEY);
  return {
    api,
    url: api.url,
    env: full,
    admin,
    log,
    database,
    async tenant() {
      const { tenantId } = await admin.ok<{ tenantId: string }>('POST', '/admin/tenants', { name: 'a tenant' });
      const { key } = await admin.ok<{ key: string }>('POST', `/admin/tenants/${tenantId}/keys`, {});
      return Object.assign(new CellarClient(api.url, key), { tenantId });
    },
    async rows() {
      const rows: Record<string, unknown[]> = {};
      for (const table of TABLES)
        rows[table] = await database.query({ name: `all-${table}`, text: `TABLE ${table}` }, []);
      return rows;
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** An entry of CELLAR_SECRET_KEY. */
export function newSecretKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}
