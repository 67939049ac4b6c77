import { toolIdentifier } from './identifiers.js';
import { type NamespaceText, packContent, type ToolName, type ToolRecord, type ViewContent } from './packed-view.js';

/** A toolset that a writer sees. */
export interface BoundToolset {
  toolset: string;
  /** In place of the tools' own. */
  exposure?: string | undefined;
  /** The toolset as it was put, as JSON text. */
  text: string;
}

interface ToolsetDocument {
  description?: string;
  instructions?: string;
  tools: readonly ToolDocument[];
}

interface ToolDocument {
  name: string;
  namespace?: string;
  description: string;
  guidelines?: readonly string[];
  inputSchema: unknown;
  outputSchema?: unknown;
  exposure: string;
  delivery?: unknown;
}

/** {@link viewContent}, packed. */
export function packView(bound: readonly BoundToolset[]): SharedArrayBuffer {
  return packContent(viewContent(bound));
}

/**
 * The tools of toolsets that one writer sees, in their order. A record is the tool as it was put, with its toolset, its
 * identifier, its effective exposure, and its schemas as texts. Identifiers are unique, for the view was checked when
 * it was configured.
 */
export function viewContent(bound: readonly BoundToolset[]): ViewContent {
  const tools: ToolRecord[] = [];
  const modelOnly: ToolName[] = [];
  const namespaces = new Map<string, NamespaceText>();
  for (const { toolset, exposure: override, text } of bound) {
    const document = JSON.parse(text) as ToolsetDocument;
    const here = new Set<string>();
    for (const { inputSchema, outputSchema, ...spec } of document.tools) {
      const exposure = override ?? spec.exposure;
      const { name, namespace } = spec;
      const identifier = toolIdentifier(spec);
      if (exposure === 'model-only' || spec.delivery === undefined) {
        modelOnly.push({ identifier, name, namespace });
        continue;
      }
      if (namespace !== undefined) here.add(namespace);
      const inputSchemaText = JSON.stringify(inputSchema);
      const outputSchemaText = outputSchema === undefined ? undefined : JSON.stringify(outputSchema);
      tools.push({ ...spec, toolset, exposure, identifier, inputSchemaText, outputSchemaText } as ToolRecord);
    }
    for (const name of here) namespaces.set(name, joined(namespaces.get(name) ?? { name }, document));
  }
  return { tools, modelOnly, namespaces: [...namespaces.values()] };
}

/** Several toolsets may have tools in one namespace: each says its own. */
function joined({ name, ...texts }: NamespaceText, toolset: ToolsetDocument): NamespaceText {
  const both = (own?: string, other?: string): string | undefined =>
    [own, other].filter((text) => text !== undefined && text !== '').join('\n\n') || undefined;
  return {
    name,
    description: both(texts.description, toolset.description),
    instructions: both(texts.instructions, toolset.instructions),
  };
}
