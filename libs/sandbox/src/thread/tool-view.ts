import { type NamespaceText, PackedView, toIdentifier, toolDescription } from '#libs/script';
import type { SharedView } from '../views.js';
import { modelOnlyHint, ToolNames } from './tool-names.js';
import { ToolSearch } from './tool-search.js';

/** A tool as scripts see it listed. */
export interface ListedTool {
  /** The name in scripts. */
  name: string;
  /** Description, guidelines and declaration. */
  description: string;
}

/** Texts kept per view, in characters; beyond it they are made each time. */
const KEPT_CHARS = 16_777_216;
/** A longer list would not fit into the memory of any script. */
const LIST_CHARS = 67_108_864;

/** The tools that one view offers to scripts. Nothing is read before a script first asks, and texts when asked for. */
export class ToolView {
  private readonly packed: PackedView | undefined;
  private readonly descriptions = new Map<number, string>();
  private describedChars = 0;
  private read: { names: ToolNames; namespaces: readonly NamespaceText[] } | undefined;
  private index: ToolSearch | undefined;

  constructor(memory: SharedArrayBuffer | undefined) {
    this.packed = memory && new PackedView(memory);
  }

  get names(): ToolNames {
    return this.parts.names;
  }

  /** The identifier at a position. */
  identifier(position: number): string | undefined {
    return this.names.tools[position]?.identifier;
  }

  /** All identifiers, in the view's order. */
  identifiers(): string[] {
    return this.names.tools.map(({ identifier }) => identifier);
  }

  /** The JSON of `ALL_TOOLS`; undefined when no script's memory could hold it. */
  listJson(): string | undefined {
    const parts: string[] = [];
    let chars = 0;
    for (const position of this.names.tools.keys()) {
      const part = JSON.stringify(this.listed(position));
      chars += part.length;
      if (chars > LIST_CHARS) return undefined;
      parts.push(part);
    }
    return `[${parts.join(',')}]`;
  }

  /** What `describeTool` resolves to. */
  describe(name: string): string | undefined {
    const position = this.names.find(name);
    if (position !== undefined) return this.description(position);
    const modelOnly = this.names.findModelOnly(name);
    return modelOnly && modelOnlyHint(modelOnly);
  }

  /** What `describeNamespace` resolves to; the name as it was given to the tools, or as identifiers have it. */
  describeNamespace(name: string): (NamespaceText & { tools: ListedTool[] }) | undefined {
    const namespace = this.findNamespace(name);
    return namespace && { ...namespace, tools: this.positionsIn(namespace.name).map((at) => this.listed(at)) };
  }

  /**
   * What `searchTools` resolves to: tools that scripts can call, the most relevant first. A query that is the name of a
   * tool gives that first, also one of the model alone.
   */
  search(query: string, limit: number, within?: string): ListedTool[] {
    const namespace = within === undefined ? undefined : (this.findNamespace(within)?.name ?? within);
    const inside = namespace === undefined ? undefined : new Set(this.positionsIn(namespace));
    const exact = this.names.find(query.trim());
    const modelOnly = exact === undefined ? this.names.findModelOnly(query.trim()) : undefined;
    this.index ??= new ToolSearch(this.names.tools.map((_tool, position) => this.record(position)));
    const found = new Set(exact === undefined || inside?.has(exact) === false ? [] : [exact]);
    for (const position of this.index.find(query, inside)) found.add(position);
    const isShown = modelOnly !== undefined && (namespace === undefined || modelOnly.namespace === namespace);
    const hints = isShown ? [{ name: modelOnly.identifier, description: modelOnlyHint(modelOnly) }] : [];
    const ranked = [...found].slice(0, limit - hints.length);
    return [...hints, ...ranked.map((position) => this.listed(position))];
  }

  private findNamespace(name: string): NamespaceText | undefined {
    const { namespaces } = this.parts;
    return (
      namespaces.find((namespace) => namespace.name === name) ??
      namespaces.find((namespace) => toIdentifier(namespace.name) === name)
    );
  }

  private positionsIn(namespace: string): number[] {
    return this.names.tools.flatMap((tool, position) => (tool.namespace === namespace ? [position] : []));
  }

  private listed(position: number): ListedTool {
    return { name: this.identifier(position) ?? '', description: this.description(position) };
  }

  private description(position: number): string {
    const known = this.descriptions.get(position);
    if (known !== undefined) return known;
    const text = toolDescription(this.record(position));
    this.describedChars += text.length;
    if (this.describedChars <= KEPT_CHARS) this.descriptions.set(position, text);
    return text;
  }

  private record(position: number) {
    if (this.packed === undefined) throw new RangeError(`there is no tool ${position}`);
    return this.packed.tool(position);
  }

  private get parts(): { names: ToolNames; namespaces: readonly NamespaceText[] } {
    if (this.read === undefined) {
      const content = this.packed?.names() ?? { tools: [], modelOnly: [], namespaces: [] };
      this.read = { names: new ToolNames(content), namespaces: content.namespaces };
    }
    return this.read;
  }
}

/** The views that a thread has used lately. */
export class ToolViews {
  private readonly known = new Map<number, ToolView>();

  /** The view, read at most once while it is among the last few. */
  get(shared: SharedView | null): ToolView {
    if (shared === null) return new ToolView(undefined);
    const view = this.known.get(shared.id) ?? new ToolView(shared.memory);
    this.known.delete(shared.id);
    this.known.set(shared.id, view);
    for (const id of this.known.keys()) if (this.known.size > KEPT_VIEWS) this.known.delete(id);
    return view;
  }
}

const KEPT_VIEWS = 8;
