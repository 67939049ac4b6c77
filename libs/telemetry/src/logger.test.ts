import { describe, expect, test } from 'vitest';
import { withCorrelation } from './correlation.js';
import { createLogger, type Logger } from './logger.js';
import { redactText } from './redaction.js';

function logTo(lines: Record<string, unknown>[], level = 'info'): Logger {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return createLogger({ name: 'test', level, destination });
}

test('a line carries the correlation id that is in force, across awaits', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = logTo(lines);
  await Promise.all(
    ['one', 'two'].map((id) =>
      withCorrelation(id, async () => {
        await Promise.resolve();
        logger.info({ id }, 'inside');
      }),
    ),
  );
  logger.info('outside');
  expect(lines.map((line) => [line.id, line.correlationId])).toEqual([
    ['one', 'one'],
    ['two', 'two'],
    [undefined, undefined],
  ]);
});

test('a line written without a trace names none', () => {
  const lines: Record<string, unknown>[] = [];
  logTo(lines).info('x');
  expect(lines[0]).not.toHaveProperty('traceId');
});

test('a level leaves out what is less severe', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = logTo(lines, 'warn');
  logger.info('no');
  logger.warn('yes');
  expect(lines.map((line) => line.msg)).toEqual(['yes']);
});

describe('secrets', () => {
  test('are taken out of fields, headers, addresses and errors', () => {
    const lines: Record<string, unknown>[] = [];
    logTo(lines).error({
      authorization: 'Bearer hunter2',
      access_token: 'hunter2',
      headers: { authorization: 'hunter2', host: 'here' },
      req: { headers: { cookie: 'hunter2' } },
      config: { adminKey: 'hunter2' },
      url: '/v1/events?access_token=hunter2&memberId=m',
      err: new Error('connect redis://user:hunter2@cache:6379 failed', { cause: new Error('?access_token=hunter2') }),
    });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
    expect(lines[0]).toMatchObject({ headers: { host: 'here' }, url: '/v1/events?access_token=[redacted]&memberId=m' });
    expect(JSON.stringify(lines)).toContain('connect redis://user:[redacted]@cache:6379 failed');
  });

  test.each([
    ['nothing here, not even user@host', 'nothing here, not even user@host'],
    ['{"a":"redis://h:6379","b":"x@y"}', '{"a":"redis://h:6379","b":"x@y"}'],
    ['{"a":"say \\"?access_token=t\\""}', '{"a":"say \\"?access_token=[redacted]\\""}'],
    ['postgres://u:p@ss@h/db', 'postgres://u:[redacted]@h/db'],
    ['key cel_k1_abcDEF012345', 'key [redacted]'],
    ['https://h/x?a=1&access_token=t#frag', 'https://h/x?a=1&access_token=[redacted]#frag'],
  ])('redactText(%j)', (text, redacted) => {
    expect(redactText(text)).toBe(redacted);
  });
});

test('an error keeps its code, its stack and its causes, and nothing else that a library hung onto it', () => {
  const lines: Record<string, unknown>[] = [];
  const err = Object.assign(new Error('outer', { cause: new TypeError('inner') }), {
    code: 'E_OUTER',
    command: { args: ['a value of a tenant'] },
  });
  logTo(lines).error({ err });
  const written = lines[0]?.err as Record<string, string>;
  expect(Object.keys(written).sort()).toEqual(['code', 'message', 'stack', 'type']);
  expect(written).toMatchObject({ type: 'Error', code: 'E_OUTER' });
  expect(written.stack).toMatch(/outer[^]*logger\.test\.ts[^]*inner/);
});
