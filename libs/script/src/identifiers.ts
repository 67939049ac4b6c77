/** A tool, as far as its name in scripts goes. */
export interface NamedTool {
  name: string;
  namespace?: string | undefined;
}

/** Why a list of tools cannot be offered to scripts together. Positions are indexes into the list. */
export type NameFault =
  /** Two tools would have the same identifier. */
  | { kind: 'collision'; identifier: string; first: number; second: number }
  /** The identifier has a meaning of its own in scripts. */
  | { kind: 'refused'; identifier: string; index: number };

/**
 * Names that no tool may have: scripts must not start scripts, `tool_search` is Cellar's, and the others are looked
 * up by the language itself (a `then` would make `tools` a promise).
 */
export const refusedIdentifiers: ReadonlySet<string> = new Set([
  'exec',
  'wait',
  'codemode',
  'tool_search',
  'then',
  'toJSON',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__proto__',
  'constructor',
  'prototype',
]);

const NOT_PART = /[^$\u200c\u200d\p{ID_Continue}]/gu;
const START = /^[$_\p{ID_Start}]/u;

/**
 * The JavaScript identifier for a name: each character that may not be part of one becomes `_`, and so does a first
 * character that may not begin one, such as a digit (spec: tools, Names in scripts).
 */
export function toIdentifier(name: string): string {
  const parts = name.replace(NOT_PART, '_');
  if (parts === '' || START.test(parts)) return parts;
  const [first = ''] = parts;
  return `_${parts.slice(first.length)}`;
}

/** The identifier of a tool in scripts: `namespace__name`, or the name alone. */
export function toolIdentifier({ name, namespace }: NamedTool): string {
  return toIdentifier(namespace === undefined ? name : `${namespace}__${name}`);
}

/** All that is wrong with the names of tools that a script would see together, in the order of the list. */
export function findNameFaults(tools: readonly NamedTool[]): NameFault[] {
  const seen = new Map<string, number>();
  const faults: NameFault[] = [];
  for (const [index, tool] of tools.entries()) {
    const identifier = toolIdentifier(tool);
    if (refusedIdentifiers.has(identifier)) faults.push({ kind: 'refused', identifier, index });
    const first = seen.get(identifier);
    if (first === undefined) seen.set(identifier, index);
    else faults.push({ kind: 'collision', identifier, first, second: index });
  }
  return faults;
}
