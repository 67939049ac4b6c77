import type { BoundToolset } from '#libs/script';
import { ScriptView } from './script-view.js';
import { type ViewBinding, bindingsOf, visibleTo } from './view-document.js';

/** Where views come from. All look-ups are by tenant. */
export interface ViewStore {
  /** The document of a view by its hash. */
  readView(tenantId: string, hash: string): Promise<string | undefined>;
  /** A version of a toolset, as it was put. */
  readToolset(tenantId: string, name: string, version: number): Promise<string | undefined>;
}

/** Packs toolsets as `packView` of libs/script does, off the main thread when they are large. */
export interface ViewPacker {
  packView(toolsets: readonly BoundToolset[]): Promise<SharedArrayBuffer>;
}

/** Views kept at a time, of scripts and of conversations. A view may hold megabytes of schemas. */
const MAX_VIEWS = 32;

/**
 * The views that scripts of this process run with, the last few of them kept. One object per tenant and set of tools:
 * members who see the same tools share it, and so do conversations.
 */
export class ToolViews {
  readonly #store: ViewStore;
  readonly #packer: ViewPacker;
  readonly #bindings = new RecentPromises<ViewBinding[]>(MAX_VIEWS);
  readonly #views = new RecentPromises<ScriptView>(MAX_VIEWS);

  constructor(store: ViewStore, packer: ViewPacker) {
    this.#store = store;
    this.#packer = packer;
  }

  /** The tools that a member's scripts may call under a view. Rejects when what the view names is not there. */
  async find(tenantId: string, hash: string, memberId: string | null): Promise<ScriptView> {
    const bindings = await this.#bindings.get(`${tenantId}/${hash}`, async () =>
      bindingsOf(await found(this.#store.readView(tenantId, hash), `view ${hash}`)),
    );
    const visible = visibleTo(bindings, memberId);
    const parts = visible.map(({ toolset, version, exposure = '' }) => `${toolset}/${version}/${exposure}`);
    return this.#views.get([tenantId, ...parts].join('\n'), () => this.#load(tenantId, visible));
  }

  async #load(tenantId: string, bindings: readonly ViewBinding[]): Promise<ScriptView> {
    const bound = bindings.map(async ({ toolset, version, exposure }) => {
      const text = await found(this.#store.readToolset(tenantId, toolset, version), `version ${version} of ${toolset}`);
      return { toolset, exposure, text };
    });
    return new ScriptView(await this.#packer.packView(await Promise.all(bound)));
  }
}

async function found(reading: Promise<string | undefined>, what: string): Promise<string> {
  const text = await reading;
  if (text === undefined) throw new Error(`A view needs ${what}, which is not there.`);
  return text;
}

/** Results by key, the most recently used of them. What failed is tried again by the next who asks. */
class RecentPromises<Value> {
  readonly #max: number;
  readonly #entries = new Map<string, Promise<Value>>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, load: () => Promise<Value>): Promise<Value> {
    const value = this.#entries.get(key) ?? load();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    value.catch(() => this.#entries.get(key) === value && this.#entries.delete(key));
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
    return value;
  }
}
