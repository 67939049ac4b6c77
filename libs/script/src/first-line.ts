import { InvalidPragmaError } from '#libs/core';

/** What the first line of an `exec` source may ask for. */
export interface ExecOptions {
  /** `yield_time_ms`: how long the first observation lasts, in ms. */
  yieldTimeMs?: number;
  /** `max_output_tokens`: the output budget, in estimated tokens. */
  maxOutputTokens?: number;
}

/** What the first line of a `codemode` source may ask for. */
export interface CodemodeOptions {
  /** `max_output_tokens`: the output budget, in estimated tokens. */
  maxOutputTokens?: number;
  /** `timeout_ms`: the deadline, in ms from the arrival of the request. */
  timeoutMs?: number;
}

/** A source after its first line was read. */
export interface ParsedSource<Options> {
  /** The source; a directive is replaced by an empty line, so that line numbers stay the model's own. */
  script: string;
  options: Options;
}

/** One key of a directive: the option it sets and the least and greatest whole number it takes. */
interface Key<Name> {
  option: Name;
  min: number;
  max: number;
}

interface Directive<Name> {
  prefix: string;
  /** The tool's argument, as messages call it. */
  what: string;
  keys: Readonly<Record<string, Key<Name>>>;
}

const MAX_TIMEOUT_MS = 2_147_483_647;
const QUOTED_CHARS = 80;

const EXEC: Directive<keyof ExecOptions> = {
  prefix: '// @exec:',
  what: 'source',
  keys: {
    yield_time_ms: { option: 'yieldTimeMs', min: 0, max: Number.MAX_SAFE_INTEGER },
    max_output_tokens: { option: 'maxOutputTokens', min: 0, max: Number.MAX_SAFE_INTEGER },
  },
};

const CODEMODE: Directive<keyof CodemodeOptions> = {
  prefix: '// @options:',
  what: 'code',
  keys: {
    max_output_tokens: { option: 'maxOutputTokens', min: 0, max: Number.MAX_SAFE_INTEGER },
    timeout_ms: { option: 'timeoutMs', min: 1, max: MAX_TIMEOUT_MS },
  },
};

/** A line ends where it ends for the engine, so that "first line" means the same on both sides. */
const LINE_END = /[\n\r\u2028\u2029]/;
const LATE_OPTIONS = /[\n\r\u2028\u2029][^\S\n\r\u2028\u2029]*\/\/ @options:/;

/**
 * Reads the `// @exec: {...}` line of an `exec` source (spec: scripts, First line). A first line that is anything
 * else is code.
 *
 * @throws InvalidPragmaError for a blank source or an unusable line, in the order of checks of the specification.
 */
export function parseExecSource(source: string): ParsedSource<ExecOptions> {
  return parse(source, EXEC);
}

/**
 * Reads the `// @options: {...}` line of a `codemode` source. Such a line anywhere but at the top is refused, also
 * inside a text that spans lines: it is taken for a mistake of the model, whose deadline would silently not hold.
 *
 * @throws InvalidPragmaError as `parseExecSource`, and for a late options line.
 */
export function parseCodemodeSource(code: string): ParsedSource<CodemodeOptions> {
  const parsed = parse(code, CODEMODE);
  const late = LATE_OPTIONS.exec(code);
  if (late !== null) {
    const line = code.slice(0, late.index + 1).split(/\r\n|[\n\r\u2028\u2029]/).length;
    throw new InvalidPragmaError(
      `There is an options line on line ${line}. "${CODEMODE.prefix}" counts only on the first line: move it there.`,
    );
  }
  return parsed;
}

function parse<Name extends string>(
  source: string,
  directive: Directive<Name>,
): ParsedSource<Partial<Record<Name, number>>> {
  if (source.trim() === '') {
    throw new InvalidPragmaError(`The ${directive.what} is blank. Send a script: plain JavaScript, no Markdown fence.`);
  }
  const start = source.search(/[^ \t]/);
  if (!source.startsWith(directive.prefix, start)) return { script: source, options: {} };

  const end = source.search(LINE_END);
  const script = end < 0 ? '' : source.slice(end);
  if (script.trim() === '') {
    throw new InvalidPragmaError(
      `There is no code after the "${directive.prefix}" line. Put the script on the next line.`,
    );
  }
  const text = source.slice(start + directive.prefix.length, end).trim();
  return { script, options: parseOptions(text, directive) };
}

function parseOptions<Name extends string>(text: string, directive: Directive<Name>): Partial<Record<Name, number>> {
  const { prefix, keys } = directive;
  const example = `${prefix} {"${Object.keys(keys)[0]}": 5000}`;
  if (text === '')
    throw new InvalidPragmaError(`Nothing follows "${prefix}". Write a JSON object after it: ${example}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = `What follows "${prefix}" is not JSON: ${quote(text)}. Write one JSON object: ${example}`;
    throw new InvalidPragmaError(message, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidPragmaError(`What follows "${prefix}" is ${quote(text)}, not a JSON object. Write: ${example}`);
  }
  const entries = Object.entries(value);
  for (const [name] of entries) {
    if (!Object.hasOwn(keys, name)) {
      const known = Object.keys(keys).join(' and ');
      throw new InvalidPragmaError(`"${prefix}" does not know ${quote(name)}. It takes ${known}.`);
    }
  }
  const options: Partial<Record<Name, number>> = {};
  for (const [name, given] of entries as [string, unknown][]) {
    const key = keys[name];
    if (key === undefined || given === null) continue;
    options[key.option] = wholeNumber(name, given, key);
  }
  return options;
}

function wholeNumber(name: string, given: unknown, { min, max }: Key<string>): number {
  if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given + 0;
  const kind = min > 0 ? 'a positive' : 'a non-negative';
  throw new InvalidPragmaError(
    `${name} is ${quote(JSON.stringify(given))}, but must be ${kind} whole number up to ${max}.`,
  );
}

function quote(text: string): string {
  const short = text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}...` : text;
  return JSON.stringify(short);
}
