import type { PutToolset, ToolSpec } from '#libs/contracts';
import { toolIdentifier } from '#libs/script';
import type { ViewBinding } from './view-document.js';

/** A tool that a script may call. */
export interface ScriptTool extends ToolSpec {
  toolset: string;
  /** The name in scripts. */
  identifier: string;
  delivery: NonNullable<ToolSpec['delivery']>;
  /** JSON texts, as threads take them. */
  inputSchemaText: string;
  outputSchemaText?: string;
}

/** The tools of one writer's scripts. */
export interface ScriptView {
  /** What the sandbox is given. */
  readonly program: {
    readonly tools: readonly { identifier: string; name: string; namespace?: string; description: string }[];
  };
  readonly byIdentifier: ReadonlyMap<string, ScriptTool>;
}

/** A binding and the toolset version that it names. */
export interface BoundDocument {
  binding: ViewBinding;
  toolset: PutToolset;
}

/**
 * The callable tools of bindings that one writer sees; model-only tools are the model's own and are left out.
 * Identifiers are unique, for the view was checked when it was configured.
 */
export function scriptView(bound: readonly BoundDocument[]): ScriptView {
  const byIdentifier = new Map<string, ScriptTool>();
  for (const { binding, toolset } of bound) {
    for (const spec of toolset.tools) {
      const exposure = binding.exposure ?? spec.exposure;
      if (exposure === 'model-only' || spec.delivery === undefined) continue;
      const identifier = toolIdentifier(spec);
      byIdentifier.set(identifier, {
        ...spec,
        exposure,
        delivery: spec.delivery,
        toolset: binding.toolset,
        identifier,
        inputSchemaText: JSON.stringify(spec.inputSchema),
        ...(spec.outputSchema && { outputSchemaText: JSON.stringify(spec.outputSchema) }),
      });
    }
  }
  const tools = [...byIdentifier.values()].map((tool) => ({
    identifier: tool.identifier,
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
    description: [tool.description, ...(tool.guidelines ?? [])].join('\n'),
  }));
  return { program: { tools }, byIdentifier };
}
