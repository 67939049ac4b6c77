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
    const mine = bit(binding);
    for (const tool of tools) {
      const identifier = toolIdentifier(tool);
      if (refusedIdentifiers.has(identifier)) throw refused(tool, toolset, identifier);
      const mask = masks.get(identifier) ?? 0n;
      if ((mask & others) !== 0n) {
        const other = places.get(identifier)?.find((place) => (others & bit(place.binding)) !== 0n);
        if (other) throw collision(other, { binding, tool }, bindings, identifier);
      }
      masks.set(identifier, mask | mine);
      const known = places.get(identifier);
      if (known) known.push({ binding, tool });
      else places.set(identifier, [{ binding, tool }]);
    }
  }
}

/** Members who are in the same bindings: those of the parent group, and one more. */
interface Group {
  parent: Group | undefined;
  binding: number;
}

/** For each binding, as one bit each, the bindings that some writer sees together with it, itself included. */
function seenTogether(bindings: readonly BoundTools[]): bigint[] {
  const everyones = bindings.reduce((all, { memberIds }, i) => (memberIds === undefined ? all | bit(i) : all), 0n);
  const together = bindings.map(({ memberIds }) => (memberIds === undefined ? everyones : 0n));
  for (const group of groupMembers(bindings)) {
    let seen = everyones;
    for (let at: Group | undefined = group; at; at = at.parent) seen |= bit(at.binding);
    for (const [index, others] of together.entries()) if ((seen & bit(index)) !== 0n) together[index] = others | seen;
  }
  return together;
}

/** Members by the bindings they are in. There may be a million members, yet hardly more than a few groups. */
function groupMembers(bindings: readonly BoundTools[]): Set<Group> {
  const groupOf = new Map<string, Group>();
  for (const [binding, { memberIds = [] }] of bindings.entries()) {
    const children = new Map<Group | undefined, Group>();
    for (const member of memberIds) {
      const parent = groupOf.get(member);
      // Named twice in one binding is as good as once.
      if (parent?.binding === binding) continue;
      const group = children.get(parent) ?? { parent, binding };
      children.set(parent, group);
      groupOf.set(member, group);
    }
  }
  return new Set(groupOf.values());
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
