import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  ConfigError,
  loadApiConfig,
  loadEmbeddedConfig,
  loadMigrateConfig,
  loadTelemetryConfig,
  loadWorkerConfig,
} from './index.js';

const secret = Buffer.alloc(32, 7).toString('base64');
const base = { DATABASE_URL: 'postgres://u:p@db:5432/cellar', REDIS_URL: 'redis://cache:6379' };
const api = { ...base, CELLAR_ADMIN_KEY: 'operator-key-0001', CELLAR_SECRET_KEY: `k1:${secret}` };

function refusal(run: () => unknown): ConfigError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('defaults', () => {
  test('of the API', () => {
    expect(loadApiConfig(api)).toEqual({
      logLevel: 'info',
      tracing: false,
      warnings: [],
      database: { url: base.DATABASE_URL, poolSize: 10 },
      redis: { url: base.REDIS_URL, queueUrl: base.REDIS_URL, prefix: '{cellar}' },
      host: '127.0.0.1',
      port: 3000,
      opsPort: undefined,
      adminKey: 'operator-key-0001',
      secretKeys: [{ id: 'k1', key: new Uint8Array(32).fill(7) }],
      limits: { maxObserveMs: 600_000, maxOutputTokens: 100_000, retentionMs: 86_400_000, drainMs: 30_000 },
    });
  });

  test('of a worker: two threads per core, no health port', () => {
    const config = loadWorkerConfig(base);
    expect(config.slots).toBe(2 * availableParallelism());
    expect(config.port).toBeUndefined();
  });

  test('of the embedded start: nothing is required, the home is absolute', () => {
    const config = loadEmbeddedConfig({});
    expect(config.home).toMatch(/^\/.*\/\.cellar$/);
    expect([config.port, config.databaseUrl, config.redisUrl, config.devKey]).toEqual([
      3000,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('of the migration job: the database alone', () => {
    expect(loadMigrateConfig({ DATABASE_URL: base.DATABASE_URL }).database.poolSize).toBe(10);
  });

  test('an empty variable counts as not set', () => {
    expect(loadApiConfig({ ...api, PORT: '', CELLAR_QUEUE_REDIS_URL: '' }).port).toBe(3000);
    expect(refusal(() => loadMigrateConfig({ DATABASE_URL: '' })).message).toContain('DATABASE_URL');
  });
});

describe('given values', () => {
  test('are taken over', () => {
    const config = loadApiConfig({
      ...api,
      HOST: '0.0.0.0',
      PORT: '0',
      CELLAR_OPS_PORT: '9000',
      CELLAR_QUEUE_REDIS_URL: 'rediss://:pw@queue:6380/1',
      CELLAR_MAX_OBSERVE_MS: '55000',
      CELLAR_MAX_OUTPUT_TOKENS: '20000',
      CELLAR_DRAIN_MS: '0',
      CELLAR_RETENTION_MS: '60000',
      DATABASE_POOL_SIZE: '3',
      LOG_LEVEL: 'silent',
    });
    expect(config).toMatchObject({ host: '0.0.0.0', port: 0, opsPort: 9000, logLevel: 'silent' });
    expect(config.redis.queueUrl).toBe('rediss://:pw@queue:6380/1');
    expect(config.database.poolSize).toBe(3);
    expect(loadWorkerConfig({ ...base, CELLAR_REDIS_PREFIX: 'blue' }).redis.prefix).toBe('{blue}');
    expect(config.limits).toEqual({ maxObserveMs: 55_000, maxOutputTokens: 20_000, retentionMs: 60_000, drainMs: 0 });
    expect(loadWorkerConfig({ ...base, WORKER_SLOTS: '6', CELLAR_WORKER_PORT: '9100' })).toMatchObject({
      slots: 6,
      port: 9100,
    });
    expect(loadEmbeddedConfig({ CELLAR_DEV_KEY: 'cel_dev_0123456789abcdef', CELLAR_HOME: '/data' })).toMatchObject({
      devKey: 'cel_dev_0123456789abcdef',
      home: '/data',
    });
  });

  test('a misspelt name is told', () => {
    expect(loadWorkerConfig({ ...base, CELLAR_DRAIN: '1', OTHER: '2' }).warnings).toEqual([
      'CELLAR_DRAIN is not a variable of Cellar and is ignored. Is it misspelt?',
    ]);
  });
});

describe('refusals', () => {
  test('name every fault at once, with form, expectation and value', () => {
    const { message, faults } = refusal(() =>
      loadApiConfig({ REDIS_URL: 'http://x', PORT: '70000', LOG_LEVEL: 'loud', CELLAR_DRAIN_MS: '1.5' }),
    );
    expect(faults.map((fault) => fault.name).sort()).toEqual(
      [
        'CELLAR_ADMIN_KEY',
        'CELLAR_DRAIN_MS',
        'CELLAR_SECRET_KEY',
        'DATABASE_URL',
        'LOG_LEVEL',
        'PORT',
        'REDIS_URL',
      ].sort(),
    );
    expect(message).toContain('7 environment variables are wrong');
    expect(message).toMatch(/PORT: expected .*from 0 to 65535; given: "70000" \(more than 65535\)\./);
    expect(message).toMatch(/LOG_LEVEL: expected one of fatal, .*; given: "loud"/);
    expect(message).toMatch(/CELLAR_DRAIN_MS: .*"1\.5" \(not a whole number\)/);
    expect(message).toMatch(/DATABASE_URL: expected the address of Postgres, such as postgres:\/\/.*; it is not set\./);
    expect(message).toMatch(/REDIS_URL: .*a value that begins with http:\/\//);
  });

  test.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/x'],
    ['DATABASE_URL', 'postgres://root:hun/ter2@db:port/x'],
    ['DATABASE_URL', 'hunter2'],
    ['REDIS_URL', 'https://:hunter2@cache'],
    ['CELLAR_ADMIN_KEY', 'hunter2'],
    ['CELLAR_SECRET_KEY', 'hunter2'],
    ['CELLAR_SECRET_KEY', `k1:${Buffer.from('hunter2').toString('base64')}`],
  ])('never show a secret: %s', (name, value) => {
    const error = refusal(() => loadApiConfig({ ...api, [name]: value }));
    expect(error.faults.map((fault) => fault.name)).toEqual([name]);
    for (const part of ['hunter2', 'ter2', 'aHVudGVyMg']) expect(error.message).not.toContain(part);
  });

  test.each(['-1', '1e3', ' 5', '0', '0x10', '99999999999999999999'])('WORKER_SLOTS=%j', (text) => {
    expect(refusal(() => loadWorkerConfig({ ...base, WORKER_SLOTS: text })).faults[0]?.name).toBe('WORKER_SLOTS');
  });

  test('the embedded start checks what its children read', () => {
    expect(refusal(() => loadEmbeddedConfig({ WORKER_SLOTS: 'many' })).message).toContain('WORKER_SLOTS');
  });
});

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'console' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, false],
  [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'TRUE' }, false],
])('tracing with %j: %s', (env, tracing) => {
  expect(loadTelemetryConfig(env)).toEqual({ tracing });
});
