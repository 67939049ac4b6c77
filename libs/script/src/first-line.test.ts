import { InvalidPragmaError } from '#libs/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCodemodeSource, parseExecSource } from './first-line.js';

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof InvalidPragmaError) return thrown.message;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('exec', () => {
  test.each<[source: string, script: string, options: object]>([
    [
      '// @exec: {"yield_time_ms": 60000, "max_output_tokens": 2000}\ntext(1)',
      '\ntext(1)',
      { yieldTimeMs: 60_000, maxOutputTokens: 2_000 },
    ],
    ['// @exec: {}\ntext(1)', '\ntext(1)', {}],
    ['// @exec:{"yield_time_ms":0}\ntext(1)', '\ntext(1)', { yieldTimeMs: 0 }],
    ['// @exec: {"yield_time_ms": -0}\ntext(1)', '\ntext(1)', { yieldTimeMs: 0 }],
    ['// @exec: {"yield_time_ms": null}\ntext(1)', '\ntext(1)', {}],
    [' \t // @exec: {"yield_time_ms": 5} \t\r\ntext(1)\r\n', '\r\ntext(1)\r\n', { yieldTimeMs: 5 }],
    ['// @exec: {"yield_time_ms": 9007199254740991}\n1', '\n1', { yieldTimeMs: Number.MAX_SAFE_INTEGER }],
    ['//@exec: {"foo": 1}\ntext(1)', '//@exec: {"foo": 1}\ntext(1)', {}],
    ['// @exec {"foo": 1}\ntext(1)', '// @exec {"foo": 1}\ntext(1)', {}],
    ['// @EXEC: {"foo": 1}\ntext(1)', '// @EXEC: {"foo": 1}\ntext(1)', {}],
    ['// @options: {"foo": 1}\ntext(1)', '// @options: {"foo": 1}\ntext(1)', {}],
    ['text(1)\n// @exec: {"foo": 1}', 'text(1)\n// @exec: {"foo": 1}', {}],
    ['\n// @exec: {"foo": 1}\ntext(1)', '\n// @exec: {"foo": 1}\ntext(1)', {}],
    ['text(1) // @exec: {"foo": 1}', 'text(1) // @exec: {"foo": 1}', {}],
  ])('%j is read', (source, script, options) => {
    expect(parseExecSource(source)).toEqual({ script, options });
    expect(Object.values(options).map((value) => Object.is(value, -0))).not.toContain(true);
  });

  test.each<[source: string, message: RegExp]>([
    ['', /The source is blank/],
    [' \t\r\n\n', /The source is blank/],
    ['// @exec: {"foo": 1}', /no code after the "\/\/ @exec:" line/],
    ['// @exec: nonsense\n \n', /no code after/],
    ['// @exec:', /no code after/],
    ['// @exec:\ntext(1)', /Nothing follows "\/\/ @exec:"/],
    ['// @exec: \t\r\ntext(1)', /Nothing follows/],
    ['// @exec: {yield_time_ms: 1}\ntext(1)', /is not JSON: "\{yield_time_ms: 1\}"/],
    ['// @exec: {"yield_time_ms": 1} // why\ntext(1)', /is not JSON/],
    ['// @exec: [1]\ntext(1)', /is "\[1\]", not a JSON object/],
    ['// @exec: null\ntext(1)', /is "null", not a JSON object/],
    ['// @exec: 5\ntext(1)', /is "5", not a JSON object/],
    ['// @exec: {"foo": 1}\ntext(1)', /does not know "foo"\. It takes yield_time_ms and max_output_tokens\./],
    ['// @exec: {"yield_time_ms": 1.5, "foo": null}\ntext(1)', /does not know "foo"/],
    ['// @exec: {"timeout_ms": 5}\ntext(1)', /does not know "timeout_ms"/],
    ['// @exec: {"__proto__": 5}\ntext(1)', /does not know "__proto__"/],
    ['// @exec: {"yield_time_ms": 1.5}\ntext(1)', /yield_time_ms is "1\.5", but must be a non-negative whole number/],
    ['// @exec: {"yield_time_ms": -1}\ntext(1)', /yield_time_ms is "-1"/],
    ['// @exec: {"max_output_tokens": "5"}\ntext(1)', /max_output_tokens is "\\"5\\""/],
    ['// @exec: {"max_output_tokens": true}\ntext(1)', /max_output_tokens is "true"/],
    ['// @exec: {"max_output_tokens": {}}\ntext(1)', /max_output_tokens is "\{\}"/],
    ['// @exec: {"yield_time_ms": 9007199254740992}\ntext(1)', /yield_time_ms is "9007199254740992"/],
    ['// @exec: {"yield_time_ms": 1e999}\ntext(1)', /yield_time_ms is "null"/],
  ])('%j is refused', (source, message) => {
    expect(refusal(() => parseExecSource(source))).toMatch(message);
  });

  test('a message stays short whatever the line holds', () => {
    const line = 'x'.repeat(100_000);
    expect(refusal(() => parseExecSource(`// @exec: ${line}\n1`)).length).toBeLessThan(300);
    expect(refusal(() => parseExecSource(`// @exec: {"${line}": 1}\n1`)).length).toBeLessThan(300);
    expect(refusal(() => parseExecSource(`// @exec: {"yield_time_ms": "${line}"}\n1`)).length).toBeLessThan(300);
  });
});

describe('codemode', () => {
  test.each<[code: string, script: string, options: object]>([
    [
      '// @options: {"max_output_tokens": 0, "timeout_ms": 2147483647}\nreturn 1',
      '\nreturn 1',
      { maxOutputTokens: 0, timeoutMs: 2_147_483_647 },
    ],
    ['\t// @options: {"timeout_ms": null}\r\nreturn 1', '\r\nreturn 1', {}],
    ['return 1 // @options: {}', 'return 1 // @options: {}', {}],
    ['return 1\n//@options: {}', 'return 1\n//@options: {}', {}],
    ['// @exec: {"foo": 1}\nreturn 1', '// @exec: {"foo": 1}\nreturn 1', {}],
  ])('%j is read', (code, script, options) => {
    expect(parseCodemodeSource(code)).toEqual({ script, options });
  });

  test.each<[code: string, message: RegExp]>([
    ['  ', /The code is blank/],
    [
      '// @options: {"timeout_ms": 0}\nreturn 1',
      /timeout_ms is "0", but must be a positive whole number up to 2147483647/,
    ],
    ['// @options: {"timeout_ms": 2147483648}\nreturn 1', /timeout_ms is "2147483648"/],
    [
      '// @options: {"yield_time_ms": 1}\nreturn 1',
      /does not know "yield_time_ms"\. It takes max_output_tokens and timeout_ms/,
    ],
    ['text(1)\n// @options: {"timeout_ms": 1000}', /options line on line 2/],
    ['text(1)\r\n\r\n \t// @options: broken', /options line on line 3/],
    ['\n// @options: {"timeout_ms": 1000}\nreturn 1', /options line on line 2/],
    ['// @options: {}\n// @options: {}\nreturn 1', /options line on line 2/],
    ['text(`\n// @options: {}`)', /options line on line 2/],
    ['text(1)\u2028// @options: {}', /options line on line 2/],
    ['// @options: {"foo": 1}\n// @options: {}', /does not know "foo"/],
  ])('%j is refused', (code, message) => {
    expect(refusal(() => parseCodemodeSource(code))).toMatch(message);
  });
});

const LINE = /\r\n|[\n\r\u2028\u2029]/;
const piece = fc.oneof(
  fc.constantFrom(
    '\n',
    '\r\n',
    ' ',
    '\t',
    '// @exec:',
    '// @options:',
    '{"yield_time_ms": 7}',
    '{',
    '}',
    'null',
    'text(1)',
    '\ufeff',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const anySource = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

test('whatever is sent is read or refused; all lines but the first stay as they are', () => {
  fc.assert(
    fc.property(anySource, fc.constantFrom(parseExecSource, parseCodemodeSource), (source, parse) => {
      let script: string;
      try {
        script = parse(source).script;
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(InvalidPragmaError);
        return;
      }
      const [first, ...others] = source.split(LINE);
      const [firstAfter, ...othersAfter] = script.split(LINE);
      expect(othersAfter).toEqual(others);
      expect(['', first]).toContain(firstAfter);
    }),
    { numRuns: 2_000 },
  );
});

test('every pair of legal values comes back', () => {
  const number = fc.option(fc.maxSafeNat(), { nil: null });
  const indent = fc.stringMatching(/^[ \t]{0,5}$/);
  fc.assert(
    fc.property(number, number, indent, fc.constantFrom('\n', '\r\n'), (yieldMs, tokens, space, eol) => {
      const line = JSON.stringify({ yield_time_ms: yieldMs, max_output_tokens: tokens });
      const { script, options } = parseExecSource(`${space}// @exec:${space}${line}${space}${eol}text(1)`);
      expect(script).toBe(`${eol}text(1)`);
      expect([options.yieldTimeMs ?? null, options.maxOutputTokens ?? null]).toEqual([yieldMs, tokens]);
    }),
  );
});
