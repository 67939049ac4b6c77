import { z } from 'zod';
import { parseSecretKeys } from './secret-keys.js';

/** How much of a refused value a message may show: all, a URL's scheme (the rest may hold a password), or nothing. */
export type Disclosure = 'value' | 'scheme' | 'nothing';

/** One environment variable: how it is read, what a person is told to write, and how secret it is. */
export interface Variable<T> {
  schema: z.ZodType<T, string>;
  expected: string;
  shows: Disclosure;
}

const MAX_TIMER_MS = 2_147_483_647;
const TEN_YEARS_MS = 315_360_000_000;

function integer(min: number, max: number, what: string): Variable<number> {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/, 'not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `less than ${min}`).max(max, `more than ${max}`));
  return { schema, expected: `${what}, a whole number from ${min} to ${max}`, shows: 'value' };
}

function url(schemes: readonly string[], what: string, example: string): Variable<string> {
  const schema = z.string().superRefine((text, context) => {
    if (!schemes.some((scheme) => text.startsWith(`${scheme}://`))) {
      context.addIssue({ code: 'custom', message: 'another scheme' });
    } else if (!URL.canParse(text)) {
      context.addIssue({ code: 'custom', message: 'not a URL; special characters in a password must be %-encoded' });
    }
  });
  return { schema, expected: `${what}, such as ${example}`, shows: 'scheme' };
}

function pattern(form: RegExp, reason: string, expected: string, shows: Disclosure): Variable<string> {
  return { schema: z.string().regex(form, reason), expected, shows };
}

const secretKeys = z.string().transform((text, context) => {
  const keys = parseSecretKeys(text);
  if (typeof keys !== 'string') return keys;
  context.addIssue({ code: 'custom', message: keys });
  return z.NEVER;
});

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** The least severe messages that are written; `silent` writes none. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const logLevel = z.string().transform((text, context) => {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  context.addIssue({ code: 'custom', message: 'unknown level' });
  return z.NEVER;
});

const postgresUrl = url(['postgres', 'postgresql'], 'the address of Postgres', 'postgres://user:password@host:5432/db');
const redisUrl = url(['redis', 'rediss'], 'the address of Redis', 'redis://host:6379');
const collectorUrl = url(['http', 'https'], 'the address of an OpenTelemetry collector', 'http://localhost:4318');

/** Every environment variable that Cellar reads (spec: API, Configuration). Names that are not here are unknown. */
export const variables = {
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_SIZE: integer(1, 1_000, 'connections to Postgres'),
  REDIS_URL: redisUrl,
  CELLAR_QUEUE_REDIS_URL: redisUrl,
  CELLAR_REDIS_PREFIX: pattern(
    /^[A-Za-z0-9._-]{1,64}$/,
    'other characters',
    'a name before all keys in Redis, so that deployments can share one: 1 to 64 of A-Z a-z 0-9 . _ -',
    'value',
  ),
  HOST: pattern(/^[A-Za-z0-9.:_-]{1,253}$/, 'not an address', 'the address to listen on, such as 0.0.0.0', 'value'),
  PORT: integer(0, 65_535, 'the port of the API (0: any free one)'),
  CELLAR_OPS_PORT: integer(0, 65_535, 'the port of metrics and admin routes'),
  CELLAR_WORKER_PORT: integer(0, 65_535, "the port of the worker's health and metrics"),
  CELLAR_ADMIN_KEY: pattern(
    /^[\x21-\x7e]{8,256}$/,
    'too short, too long, or with other characters',
    'the key of the operator, 8 to 256 printable ASCII characters without spaces',
    'nothing',
  ),
  CELLAR_SECRET_KEY: {
    schema: secretKeys,
    expected:
      'id:base64 or a list id:base64,id:base64 of 32-byte keys; make one with: echo "k1:$(openssl rand -base64 32)"',
    shows: 'nothing',
  },
  CELLAR_DEV_KEY: pattern(
    /^cel_[A-Za-z0-9-]{1,64}_[A-Za-z0-9_-]{8,256}$/,
    'another form',
    'an API key of the form cel_{keyId}_{secret}, the secret at least 8 of A-Z a-z 0-9 _ -',
    'nothing',
  ),
  CELLAR_HOME: pattern(/^[^\0]{1,4096}$/, 'not a path', 'the path of the folder that holds all data', 'value'),
  WORKER_SLOTS: integer(1, 1_024, 'script threads of a worker'),
  CELLAR_MAX_OBSERVE_MS: integer(1, MAX_TIMER_MS, 'the longest observation in ms'),
  CELLAR_MAX_OUTPUT_TOKENS: integer(1, MAX_TIMER_MS, 'the largest output budget in tokens'),
  CELLAR_DRAIN_MS: integer(0, MAX_TIMER_MS, 'the time that a stopping process gives to what is running, in ms'),
  CELLAR_RETENTION_MS: integer(1, TEN_YEARS_MS, 'how long what has ended is kept, in ms'),
  LOG_LEVEL: { schema: logLevel, expected: `one of ${LOG_LEVELS.join(', ')}`, shows: 'value' },
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorUrl,
  OTEL_TRACES_EXPORTER: pattern(/^[a-z,/_ -]{1,200}$/, 'another form', 'exporters such as otlp or none', 'value'),
  OTEL_SDK_DISABLED: pattern(/^(true|false)$/i, 'neither', 'true or false', 'value'),
} satisfies Record<string, Variable<unknown>>;

/** The name of a variable that Cellar reads. */
export type VariableName = keyof typeof variables;
