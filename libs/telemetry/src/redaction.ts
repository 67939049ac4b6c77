import { stdSerializers } from 'pino';

const CENSOR = '[redacted]';

const SECRET_NAMES = [
  'authorization',
  'cookie',
  'access_token',
  'accessToken',
  'apiKey',
  'adminKey',
  'secretKey',
  'secretKeys',
  'password',
  'secret',
  'token',
];

/** Objects in a log line that may hold such names. No wildcards: they make a line ten times as expensive. */
const PLACES = ['', 'headers.', 'req.headers.', 'query.', 'body.', 'config.'];

/** Where a log line may hold a secret by accident; pino replaces what it finds there. */
export const redact = {
  paths: PLACES.flatMap((place) => SECRET_NAMES.map((name) => place + name)),
  censor: CENSOR,
};

/** Takes what grants access out of a text: `access_token` in a query, a password before a host, an API key. */
export function redactText(text: string): string {
  let clean = text;
  if (clean.includes('access_token=')) clean = clean.replace(/(access_token=)[^&#\s"'\\]*/g, `$1${CENSOR}`);
  if (clean.includes('://')) clean = clean.replace(/(:\/\/[^:@/\s"]{0,200}:)[^\s"]{1,500}@/g, `$1${CENSOR}@`);
  if (clean.includes('cel_')) clean = clean.replace(/\bcel_[A-Za-z0-9-]{1,64}_[A-Za-z0-9_-]+/g, CENSOR);
  return clean;
}

/**
 * How errors are written: their texts with those of their causes, and their code. What libraries attach to them, such
 * as the arguments of a Redis command, stays out.
 */
export const serializers = {
  err: (error: unknown): unknown => {
    if (!(error instanceof Error)) return error;
    const { type, message, stack } = stdSerializers.err(error);
    const code: unknown = Reflect.get(error, 'code');
    return { type, message, stack, ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}) };
  },
};
