import type { ToolSpec } from '#libs/contracts';
import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

/** A toolset as a view holds it. Versions never change, so naming one is as good as a copy of its tools. */
export interface ViewBinding {
  toolset: string;
  version: number;
  /** Who sees it; left out: everyone. */
  memberIds?: readonly string[] | undefined;
  /** In place of the tools' own. */
  exposure?: ToolSpec['exposure'] | undefined;
}

/**
 * What the writers of a conversation may use, settled when it is configured: a document and its hash, under which it is
 * kept and pinned to cells (3. Tools, The view is fixed). Undefined when nothing is bound.
 */
export function viewOf(bindings: readonly ViewBinding[]): { hash: string; document: string } | undefined {
  if (bindings.length === 0) return undefined;
  const entries = bindings.map(({ toolset, version, memberIds, exposure }) => ({
    toolset,
    version,
    ...(memberIds && { memberIds: [...new Set(memberIds)].sort() }),
    ...(exposure && { exposure }),
  }));
  const document = canonicalJson({ bindings: entries });
  return { hash: createHash('sha256').update(document).digest('hex'), document };
}

/** The bindings of a document that {@link viewOf} made. */
export function bindingsOf(document: string): ViewBinding[] {
  return (JSON.parse(document) as { bindings: ViewBinding[] }).bindings;
}

/** The bindings that a member sees: those for everyone, and those that name the member. */
export function visibleTo(bindings: readonly ViewBinding[], memberId: string | null): ViewBinding[] {
  return bindings.filter(
    ({ memberIds }) => memberIds === undefined || (memberId !== null && memberIds.includes(memberId)),
  );
}
