import type { PutToolset } from '#libs/contracts';
import type { Clock } from '#libs/core';
import { Database, findToolset, listToolsets } from '#libs/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { TtlCache } from '../http/ttl-cache.js';
import { CLOCK } from '../tokens.js';

/** What a conversation must know of a tool in order to bind it. */
export interface ToolOutline {
  name: string;
  namespace?: string | undefined;
  /** Somebody runs it; only a tool that scripts cannot call may lack that. */
  hasDelivery: boolean;
}

/** The newest version of a toolset. */
export interface ToolsetOutline {
  name: string;
  version: number;
  tools: readonly ToolOutline[];
}

/** A version never changes, so the time only bounds memory. */
const OUTLINE_TTL_MS = 600_000;
const MAX_OUTLINES = 200;

/** Outlines of toolsets, so that binding a large one in every chat does not read all its schemas each time. */
@Injectable()
export class NewestToolsets {
  readonly #cache: TtlCache<ToolsetOutline | undefined>;

  constructor(
    private readonly db: Database,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#cache = new TtlCache(clock, { ttlMs: OUTLINE_TTL_MS, maxEntries: MAX_OUTLINES });
  }

  /** The tenant's toolsets of these names; those that there are not are left out. */
  async find(tenantId: string, names: ReadonlySet<string>): Promise<Map<string, ToolsetOutline>> {
    const found = new Map<string, ToolsetOutline>();
    if (names.size === 0) return found;
    for (const { name, version } of await listToolsets(this.db, tenantId)) {
      if (!names.has(name)) continue;
      const key = `${tenantId}/${name}/${version}`;
      const outline = await this.#cache.get(key, () => this.#load(tenantId, name));
      if (outline) found.set(name, outline);
      else this.#cache.forget(key);
    }
    return found;
  }

  async #load(tenantId: string, name: string): Promise<ToolsetOutline | undefined> {
    const row = await findToolset(this.db, tenantId, name);
    if (!row) return undefined;
    const { tools } = JSON.parse(row.document) as PutToolset;
    return {
      name,
      version: row.version,
      tools: tools.map((tool) => ({
        name: tool.name,
        namespace: tool.namespace,
        hasDelivery: tool.delivery !== undefined,
      })),
    };
  }
}
