import { ConfigError, type ConfigFault } from './config-error.js';
import { variables, type Disclosure, type Variable, type VariableName } from './variables.js';

/** An environment as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

type ValueOf<V> = V extends Variable<infer T> ? T : never;
type Values = { [N in VariableName]?: ValueOf<(typeof variables)[N]> };

/** Parsed variables: the required ones are there, the others may be missing. */
export type Env<R extends VariableName> = Values & { [N in R]-?: ValueOf<(typeof variables)[N]> };

const SHOWN_CHARS = 100;

/**
 * The first of two steps: reads and checks variables, and decides nothing. An empty variable counts as not set, as
 * container tools pass one for a value left out.
 *
 * @throws ConfigError that names every bad and every missing variable.
 */
export function parseEnv<R extends VariableName>(
  source: Environment,
  required: readonly R[],
  optional: readonly VariableName[],
): Env<R> {
  const values: Partial<Record<VariableName, unknown>> = {};
  const faults: ConfigFault[] = [];
  for (const name of new Set<VariableName>([...required, ...optional])) {
    const variable: Variable<unknown> = variables[name];
    const text = source[name];
    if (text === undefined || text === '') {
      if ((required as readonly VariableName[]).includes(name)) faults.push({ name, expected: variable.expected });
      continue;
    }
    const result = variable.schema.safeParse(text);
    if (result.success) values[name] = result.data;
    else {
      const given = disclose(text, variable.shows);
      faults.push({ name, expected: variable.expected, given, reason: result.error.issues[0]?.message });
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Env<R>;
}

/** Names that look like ours and are not known: most likely misspelt. */
export function unknownNames(source: Environment): string[] {
  return Object.keys(source).filter((name) => name.startsWith('CELLAR_') && !(name in variables));
}

function disclose(text: string, shows: Disclosure): string {
  if (shows === 'value') {
    return JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : text);
  }
  const scheme = shows === 'scheme' ? /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(text)?.[0] : undefined;
  return scheme === undefined
    ? `${text.length} characters that are not shown`
    : `a value that begins with ${scheme} (the rest is not shown)`;
}
