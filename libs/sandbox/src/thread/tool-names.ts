import type { ToolName, ViewNames } from '#libs/script';
import { nearestNames } from './nearest.js';

/** The names of a view, read at once. */
export class ToolNames {
  readonly tools: readonly ToolName[];
  /** Every name of a tool that only the model can call. */
  private readonly modelOnly: ReadonlyMap<string, ToolName>;
  /** Every name that works in scripts -> position. */
  private readonly positions: ReadonlyMap<string, number>;
  /** Raw names that several tools have -> their identifiers. */
  private readonly ambiguous: ReadonlyMap<string, readonly string[]>;

  constructor({ tools, modelOnly }: Pick<ViewNames, 'tools' | 'modelOnly'>) {
    this.tools = tools;
    this.modelOnly = new Map(modelOnly.flatMap((tool) => namesOf(tool).map((name) => [name, tool])));
    const { positions, ambiguous } = index(tools);
    this.positions = positions;
    this.ambiguous = ambiguous;
  }

  /** The position of the tool with that identifier, raw name (when it is unique) or `namespace.name`. */
  find(name: string): number | undefined {
    return this.positions.get(name);
  }

  /** The tool of that name that only the model can call. */
  findModelOnly(name: string): ToolName | undefined {
    return this.modelOnly.get(name);
  }

  /** What to tell a script that reads a tool that is not there. */
  describeMissing(name: string): string {
    const { tools, ambiguous } = this;
    const shown = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
      ? `tools.${name}`
      : `tools[${JSON.stringify(name)}]`;
    const modelOnly = this.findModelOnly(name);
    if (modelOnly !== undefined) return `${shown} does not exist. ${modelOnlyHint(modelOnly)}`;
    if (tools.length === 0) return `${shown} does not exist: this script has no tools.`;
    const shared = ambiguous.get(name);
    if (shared !== undefined) {
      return `${shown} is not clear: ${shared.length} tools have that name. Use ${asChoice(shared.slice(0, 3))}.`;
    }
    const near = nearestNames(
      name,
      tools.map(({ identifier }) => identifier),
    );
    if (near.length === 0) return `${shown} does not exist. ALL_TOOLS lists the tools there are.`;
    return `${shown} does not exist. Did you mean ${asChoice(near)}?`;
  }
}

/** What scripts are told of a tool that they cannot call. */
export function modelOnlyHint({ name }: ToolName): string {
  return `Scripts cannot call ${name}. It is a tool of your own: call it directly, outside of scripts.`;
}

function namesOf({ identifier, name, namespace }: ToolName): string[] {
  return namespace === undefined ? [identifier, name] : [identifier, name, `${namespace}.${name}`];
}

function index(tools: readonly ToolName[]) {
  const byName = new Map<string, number[]>();
  const positions = new Map<string, number>();
  for (const [position, tool] of tools.entries()) {
    const [identifier = '', ...others] = namesOf(tool);
    positions.set(identifier, position);
    for (const key of others) {
      const found = byName.get(key);
      if (found === undefined) byName.set(key, [position]);
      else found.push(position);
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
  return { positions, ambiguous };
}

function asChoice(identifiers: readonly string[]): string {
  const names = identifiers.map((identifier) => `tools.${identifier}`);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
