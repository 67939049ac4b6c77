import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { refusedIdentifiers } from '#libs/script';
import { ANSWER, AS_JSON, KIND, OP } from './thread/kinds.js';

// The guest is plain text in the base image and imports nothing, so what both sides must agree on stands twice.

/** What an expression is after a part of the prelude has run alone. */
function evaluate(part: string, expression: string): unknown {
  const text = readFileSync(new URL(`../guest/${part}.js`, import.meta.url), 'utf8');
  const [declaration] = new RegExp(`^const ${expression} = [^;]*;`, 'm').exec(text) ?? [];
  if (declaration === undefined) throw new Error(`${part}.js has no ${expression}`);
  return new Function(`${declaration}\nreturn ${expression};`)();
}

it.each([
  ['intrinsics', 'KIND', KIND],
  ['intrinsics', 'AS_JSON', AS_JSON],
  ['intrinsics', 'NO_MEMORY', ANSWER.noMemory],
  ['intrinsics', 'NEEDS_JSON', ANSWER.needsJson],
  ['intrinsics', 'TOO_LONG', ANSWER.tooLong],
  ['intrinsics', 'TOO_MANY', ANSWER.tooMany],
  ['main', 'OP', OP],
])('%s.js and the thread have the same %s', (part, name, value) => {
  expect(evaluate(part, name)).toEqual(value);
});

it('no tool can have a name that the prelude keeps for the language', () => {
  // Names that Cellar keeps for itself are missing tools like any other.
  const kept = new Set(['exec', 'wait', 'codemode', 'tool_search']);
  const language = [...refusedIdentifiers].filter((name) => !kept.has(name));
  expect(evaluate('tools', 'NOT_TOOLS')).toEqual(new Set(language));
});
