import { memberName, schemaType } from './schema-type.js';

/** What scripts are told of a tool. Schemas are JSON texts. */
export interface ToolText {
  /** The name in scripts. */
  identifier: string;
  description: string;
  guidelines?: readonly string[] | undefined;
  inputSchemaText: string;
  outputSchemaText?: string | undefined;
}

/** A call without an output schema resolves to text, or to one image as `image()` takes it. */
const PLAIN_RESULT = 'string | ImageBlock';

/** How scripts call a tool, as TypeScript (spec: tools, Declarations). */
export function declaration({ identifier, inputSchemaText, outputSchemaText }: ToolText): string {
  const input: unknown = JSON.parse(inputSchemaText);
  // `new(...)` would declare a constructor.
  const name = identifier === 'new' ? '"new"' : memberName(identifier);
  const args = `${mayBeLeftOut(input) ? 'args?' : 'args'}: ${schemaType(input)}`;
  const result = outputSchemaText === undefined ? PLAIN_RESULT : schemaType(JSON.parse(outputSchemaText));
  return `declare const tools: { ${name}(${args}): Promise<${result}>; };`;
}

/** The one text about a tool: what it does, its guidelines, how it is called. The same wherever a tool is described. */
export function toolDescription(tool: ToolText): string {
  const lines = [tool.description, ...(tool.guidelines ?? []), declaration(tool)];
  return lines.filter((line) => line !== '').join('\n');
}

/** Whether `{}` is surely enough: a script that passes nothing passes that. */
function mayBeLeftOut(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { required = [], minProperties = 0 } = schema as Record<string, unknown>;
  const decides = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'const', 'enum'];
  return (
    Array.isArray(required) && required.length === 0 && minProperties === 0 && !decides.some((key) => key in schema)
  );
}
