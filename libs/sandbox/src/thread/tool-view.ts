import { Buffer } from 'node:buffer';
import type { ProgramTool } from '../port.js';
import type { SharedView } from '../views.js';
import { nearestNames } from './nearest.js';

interface Tables {
  tools: readonly ProgramTool[];
  /** Every name that works in scripts -> position. */
  positions: ReadonlyMap<string, number>;
  /** Raw names that several tools have -> their identifiers. */
  ambiguous: ReadonlyMap<string, readonly string[]>;
}

/** The tools that one view offers to scripts. Nothing is read before a script first asks. */
export class ToolView {
  private tables: Tables | undefined;

  constructor(private readonly json: SharedArrayBuffer | undefined) {}

  /** The position of the tool with that identifier, raw name (when it is unique) or `namespace.name`. */
  find(name: string): number | undefined {
    return this.read().positions.get(name);
  }

  /** The identifier at a position. */
  identifier(position: number): string | undefined {
    return this.read().tools[position]?.identifier;
  }

  /** All identifiers, in the view's order. */
  identifiers(): string[] {
    return this.read().tools.map(({ identifier }) => identifier);
  }

  /** What `ALL_TOOLS` holds. */
  list(): { name: string; description: string }[] {
    return this.read().tools.map(({ identifier, description }) => ({ name: identifier, description }));
  }

  /** What to tell a script that reads a tool that is not there. */
  describeMissing(name: string): string {
    const { tools, ambiguous } = this.read();
    const shown = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
      ? `tools.${name}`
      : `tools[${JSON.stringify(name)}]`;
    if (tools.length === 0) return `${shown} does not exist: this script has no tools.`;
    const shared = ambiguous.get(name);
    if (shared !== undefined) {
      return `${shown} is not clear: ${shared.length} tools have that name. Use ${asChoice(shared.slice(0, 3))}.`;
    }
    const near = nearestNames(name, this.identifiers());
    if (near.length === 0) return `${shown} does not exist. ALL_TOOLS lists the tools there are.`;
    return `${shown} does not exist. Did you mean ${asChoice(near)}?`;
  }

  private read(): Tables {
    this.tables ??= readTables(this.json);
    return this.tables;
  }
}

/** The views that a thread has used lately. */
export class ToolViews {
  private readonly known = new Map<number, ToolView>();

  /** The view, read at most once while it is among the last few. */
  get(shared: SharedView | null): ToolView {
    if (shared === null) return new ToolView(undefined);
    const view = this.known.get(shared.id) ?? new ToolView(shared.json);
    this.known.delete(shared.id);
    this.known.set(shared.id, view);
    for (const id of this.known.keys()) if (this.known.size > KEPT_VIEWS) this.known.delete(id);
    return view;
  }
}

const KEPT_VIEWS = 8;

function readTables(json: SharedArrayBuffer | undefined): Tables {
  const tools = json === undefined ? [] : (JSON.parse(Buffer.from(json).toString()) as ProgramTool[]);
  const byName = new Map<string, number[]>();
  const positions = new Map<string, number>();
  for (const [position, { identifier, name, namespace }] of tools.entries()) {
    positions.set(identifier, position);
    for (const key of namespace === undefined ? [name] : [name, `${namespace}.${name}`]) {
      const others = byName.get(key);
      if (others === undefined) byName.set(key, [position]);
      else others.push(position);
    }
  }
  const ambiguous = new Map<string, string[]>();
  for (const [name, found] of byName) {
    const [first] = found;
    if (positions.has(name)) continue;
    if (found.length === 1 && first !== undefined) positions.set(name, first);
    else
      ambiguous.set(
        name,
        found.map((position) => tools[position]?.identifier ?? ''),
      );
  }
  return { tools, positions, ambiguous };
}

function asChoice(identifiers: readonly string[]): string {
  const names = identifiers.map((identifier) => `tools.${identifier}`);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
