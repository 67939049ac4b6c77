import type { ToolSpec } from '#libs/contracts';
import { PackedView, type ToolRecord } from '#libs/script';

/** A tool that a script may call. Schemas are JSON texts, as threads take them. */
export interface ScriptTool extends Omit<ToolSpec, 'inputSchema' | 'outputSchema'>, ToolRecord {
  namespace?: string | undefined;
  guidelines?: string[] | undefined;
  toolset: string;
  delivery: NonNullable<ToolSpec['delivery']>;
}

/** The tools of one writer's scripts. Reading a tool costs the same for any number of them. */
export class ScriptView {
  /** What the sandbox is given. */
  readonly program: { readonly memory: SharedArrayBuffer };
  readonly #packed: PackedView<ScriptTool>;
  readonly #tools = new Map<string, ScriptTool>();
  #positions: ReadonlyMap<string, number> | undefined;

  /** `memory`: what `packView` of libs/script made of the writer's toolsets. */
  constructor(memory: SharedArrayBuffer) {
    this.program = { memory };
    this.#packed = new PackedView(memory);
  }

  /** The tool of an identifier: always the same object. */
  find(identifier: string): ScriptTool | undefined {
    this.#positions ??= new Map(this.#packed.names().tools.map((tool, position) => [tool.identifier, position]));
    const known = this.#tools.get(identifier);
    const position = this.#positions.get(identifier);
    if (known !== undefined || position === undefined) return known;
    const tool = this.#packed.tool(position);
    this.#tools.set(identifier, tool);
    return tool;
  }
}
