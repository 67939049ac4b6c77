import { ToolNameCollisionError } from '#libs/core';
import { type NamedTool, refusedIdentifiers, toolIdentifier } from '#libs/script';

/** A toolset as a conversation binds it. */
export interface BoundTools {
  toolset: string;
  /** Who sees it; undefined: everyone. */
  memberIds?: readonly string[] | undefined;
  tools: readonly NamedTool[];
}

interface Place {
  binding: number;
  tool: NamedTool;
}

/**
 * Throws ToolNameCollisionError when a writer would see two tools with one identifier, or one that scripts cannot have
 * (3. Tools, Names in scripts). A writer sees what is bound for everyone and what is bound for them.
 */
export function checkViews(bindings: readonly BoundTools[]): void {
  const together = seenTogether(bindings);
  const places = new Map<string, Place[]>();
  const masks = new Map<string, bigint>();
  for (const [binding, { toolset, tools }] of bindings.entries()) {
    const others = together[binding] ?? 0n;
    for (const tool of tools) {
      const identifier = toolIdentifier(tool);
      if (refusedIdentifiers.has(identifier)) throw refused(tool, toolset, identifier);
      const mask = masks.get(identifier) ?? 0n;
      const known = places.get(identifier) ?? [];
      if ((mask & others) !== 0n) {
        const other = known.find((place) => (others & bit(place.binding)) !== 0n);
        if (other) throw collision(other, { binding, tool }, bindings, identifier);
      }
      masks.set(identifier, mask | bit(binding));
      places.set(identifier, [...known, { binding, tool }]);
    }
  }
}

/**
 * For each binding, as one bit each, the bindings that some writer sees beside it. One pass over all members: they may
 * be millions, and pairs of lists would take their square.
 */
function seenTogether(bindings: readonly BoundTools[]): bigint[] {
  const ofMember = new Map<string, bigint>();
  let everyones = 0n;
  let somebodys = 0n;
  for (const [index, { memberIds }] of bindings.entries()) {
    if (memberIds === undefined) everyones |= bit(index);
    else if (memberIds.length > 0) somebodys |= bit(index);
    for (const member of memberIds ?? []) ofMember.set(member, (ofMember.get(member) ?? 0n) | bit(index));
  }
  return bindings.map(({ memberIds }) => {
    if (memberIds === undefined) return everyones | somebodys;
    return memberIds.reduce((all, member) => all | (ofMember.get(member) ?? 0n) | everyones, 0n);
  });
}

function bit(index: number): bigint {
  return 1n << BigInt(index);
}

function collision(a: Place, b: Place, bindings: readonly BoundTools[], identifier: string): ToolNameCollisionError {
  const setOf = ({ binding }: Place): string => bindings[binding]?.toolset ?? '';
  if (setOf(a) === setOf(b)) {
    return new ToolNameCollisionError(
      `Toolset ${setOf(a)} is bound twice for the same writer, in toolsets/${a.binding} and toolsets/${b.binding}: bind it once.`,
    );
  }
  return new ToolNameCollisionError(
    `${nameTool(a.tool)} of toolset ${setOf(a)} and ${nameTool(b.tool)} of toolset ${setOf(b)} would both be ` +
      `tools.${identifier} for the same writer: rename one, give it a namespace, or bind them for different members.`,
  );
}

function refused(tool: NamedTool, toolset: string, identifier: string): ToolNameCollisionError {
  return new ToolNameCollisionError(
    `${nameTool(tool)} of toolset ${toolset} would be tools.${identifier} in scripts, which has a meaning of its own: ` +
      'rename it, or give it a namespace.',
  );
}

/** A tool as people know it: its raw name, and its namespace if it has one. */
export function nameTool({ name, namespace }: NamedTool): string {
  return namespace === undefined
    ? JSON.stringify(name)
    : `${JSON.stringify(name)} (namespace ${JSON.stringify(namespace)})`;
}
