import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseEnv, unknownNames, type Env, type Environment } from './env.js';
import type { SecretKeys } from './secret-keys.js';
import type { LogLevel, VariableName } from './variables.js';

/** Connections to Postgres. */
export interface DatabaseConfig {
  /** Holds a password: never to be logged. */
  url: string;
  /** Connections of one process. */
  poolSize: number;
}

/** Connections to Redis; both URLs may hold a password. */
export interface RedisConfig {
  /** For doorbells, control messages and streams. */
  url: string;
  /** For BullMQ; the same server unless configured otherwise. */
  queueUrl: string;
  /** Before all keys and channels, a hash tag that keeps them in one slot of a Redis Cluster. */
  prefix: string;
}

/** What every process knows. */
export interface ProcessConfig {
  logLevel: LogLevel;
  /** Whether spans are made and exported. */
  tracing: boolean;
  /** Things to be logged once at start, such as names that look misspelt. */
  warnings: readonly string[];
}

/** Maxima that a deployment may change, and times that both apps must agree on. */
export interface SharedLimits {
  /** Longest observation, in ms; more is lowered to it. */
  maxObserveMs: number;
  /** Largest output budget, in estimated tokens; more is lowered to it. */
  maxOutputTokens: number;
  /** How long what has ended is kept, in ms, where no setting says otherwise. */
  retentionMs: number;
  /** How long a stopping process waits for what is running, in ms. */
  drainMs: number;
}

/** Configuration of one API process. */
export interface ApiConfig extends ProcessConfig {
  database: DatabaseConfig;
  redis: RedisConfig;
  host: string;
  port: number;
  /** Where metrics and admin routes are served; undefined: on `port`. */
  opsPort: number | undefined;
  adminKey: string;
  secretKeys: SecretKeys;
  limits: SharedLimits;
}

/** Configuration of one worker process. */
export interface WorkerConfig extends ProcessConfig {
  database: DatabaseConfig;
  redis: RedisConfig;
  /** Address of the health port. */
  host: string;
  /** Where health and metrics are served; undefined: nowhere. */
  port: number | undefined;
  /** Script threads. */
  slots: number;
  limits: SharedLimits;
}

/** Configuration of the migration job. */
export interface MigrateConfig extends ProcessConfig {
  database: DatabaseConfig;
}

/** Configuration of the embedded start, which brings up what is not configured. */
export interface EmbeddedConfig extends ProcessConfig {
  /** The folder that holds everything, absolute. */
  home: string;
  host: string;
  port: number;
  /** The development tenant's key; undefined: made at the first start. */
  devKey: string | undefined;
  /** Undefined: an embedded Postgres. */
  databaseUrl: string | undefined;
  /** Undefined: an embedded Redis. */
  redisUrl: string | undefined;
  /** Undefined: made at the first start. */
  adminKey: string | undefined;
  /** Undefined: made at the first start. */
  secretKeys: SecretKeys | undefined;
}

/** Whether spans are made, decided early and without checks: read by the file that is loaded before all others. */
export interface TelemetryConfig {
  tracing: boolean;
}

const TRACING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_SDK_DISABLED',
] as const satisfies readonly VariableName[];
const REDIS = ['CELLAR_QUEUE_REDIS_URL', 'CELLAR_REDIS_PREFIX'] as const satisfies readonly VariableName[];
const COMMON = ['LOG_LEVEL', 'DATABASE_POOL_SIZE', ...TRACING] as const satisfies readonly VariableName[];
const LIMITS = [
  'CELLAR_MAX_OBSERVE_MS',
  'CELLAR_MAX_OUTPUT_TOKENS',
  'CELLAR_RETENTION_MS',
  'CELLAR_DRAIN_MS',
] as const satisfies readonly VariableName[];
const API = ['HOST', 'PORT', 'CELLAR_OPS_PORT'] as const satisfies readonly VariableName[];
const WORKER = ['WORKER_SLOTS', 'CELLAR_WORKER_PORT'] as const satisfies readonly VariableName[];

/** Reads the configuration of an API process. @throws ConfigError */
export function loadApiConfig(source: Environment = process.env): ApiConfig {
  const required = ['DATABASE_URL', 'REDIS_URL', 'CELLAR_ADMIN_KEY', 'CELLAR_SECRET_KEY'] as const;
  const env = parseEnv(source, required, [...COMMON, ...LIMITS, ...REDIS, ...API]);
  return {
    ...common(env, source),
    database: database(env),
    redis: redis(env),
    host: env.HOST ?? '127.0.0.1',
    port: env.PORT ?? 3000,
    opsPort: env.CELLAR_OPS_PORT,
    adminKey: env.CELLAR_ADMIN_KEY,
    secretKeys: env.CELLAR_SECRET_KEY,
    limits: sharedLimits(env),
  };
}

/** Reads the configuration of a worker process. @throws ConfigError */
export function loadWorkerConfig(source: Environment = process.env): WorkerConfig {
  const optional = [...COMMON, ...LIMITS, ...REDIS, ...WORKER, 'HOST'] as const;
  const env = parseEnv(source, ['DATABASE_URL', 'REDIS_URL'], optional);
  return {
    ...common(env, source),
    database: database(env),
    redis: redis(env),
    host: env.HOST ?? '127.0.0.1',
    port: env.CELLAR_WORKER_PORT,
    slots: env.WORKER_SLOTS ?? 2 * availableParallelism(),
    limits: sharedLimits(env),
  };
}

/** Reads the configuration of the migration job. @throws ConfigError */
export function loadMigrateConfig(source: Environment = process.env): MigrateConfig {
  const env = parseEnv(source, ['DATABASE_URL'], COMMON);
  return { ...common(env, source), database: database(env) };
}

/**
 * Reads the configuration of the embedded start. Checks the variables of its child processes too, so that a bad one
 * is told before anything is brought up. @throws ConfigError
 */
export function loadEmbeddedConfig(source: Environment = process.env): EmbeddedConfig {
  const own = ['CELLAR_HOME', 'CELLAR_DEV_KEY', 'DATABASE_URL', 'REDIS_URL'] as const;
  const secrets = ['CELLAR_ADMIN_KEY', 'CELLAR_SECRET_KEY'] as const;
  const env = parseEnv(source, [], [...own, ...secrets, ...COMMON, ...LIMITS, ...REDIS, ...API, ...WORKER]);
  return {
    ...common(env, source),
    home: resolve(env.CELLAR_HOME ?? '.cellar'),
    host: env.HOST ?? '127.0.0.1',
    port: env.PORT ?? 3000,
    devKey: env.CELLAR_DEV_KEY,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    adminKey: env.CELLAR_ADMIN_KEY,
    secretKeys: env.CELLAR_SECRET_KEY,
  };
}

/** Reads whether tracing is on. Never throws: the full configuration is checked by `main` a moment later. */
export function loadTelemetryConfig(source: Environment = process.env): TelemetryConfig {
  const exporter = source.OTEL_TRACES_EXPORTER;
  const endpoint = source.OTEL_EXPORTER_OTLP_ENDPOINT || source.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const disabled = source.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none';
  return { tracing: !disabled && Boolean(exporter || endpoint) };
}

function common(env: Env<never>, source: Environment): ProcessConfig {
  return {
    logLevel: env.LOG_LEVEL ?? 'info',
    tracing: loadTelemetryConfig(source).tracing,
    warnings: unknownNames(source).map((name) => `${name} is not a variable of Cellar and is ignored. Is it misspelt?`),
  };
}

function database(env: Env<'DATABASE_URL'>): DatabaseConfig {
  return { url: env.DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE ?? 10 };
}

function redis(env: Env<'REDIS_URL'>): RedisConfig {
  return {
    url: env.REDIS_URL,
    queueUrl: env.CELLAR_QUEUE_REDIS_URL ?? env.REDIS_URL,
    prefix: `{${env.CELLAR_REDIS_PREFIX ?? 'cellar'}}`,
  };
}

function sharedLimits(env: Env<never>): SharedLimits {
  return {
    maxObserveMs: env.CELLAR_MAX_OBSERVE_MS ?? 600_000,
    maxOutputTokens: env.CELLAR_MAX_OUTPUT_TOKENS ?? 100_000,
    retentionMs: env.CELLAR_RETENTION_MS ?? 86_400_000,
    drainMs: env.CELLAR_DRAIN_MS ?? 30_000,
  };
}
