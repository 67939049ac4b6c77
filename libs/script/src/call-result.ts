/** What a call's owner posted: `result` is a CallToolResult. */
export type PostedResult = { result: ToolResult } | { error: { message: string } };

/** MCP's CallToolResult, as far as scripts see it. */
export interface ToolResult {
  content: readonly ToolContent[];
  structuredContent?: unknown;
  isError?: boolean;
}

/** One content block of a result. */
export interface ToolContent {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  resource?: { uri?: string; text?: string };
}

/** What a call does in its script: resolve to a value, given as JSON, or reject with an Error. */
export type CallValue = { ok: true; json: string } | { ok: false; message: string };

/**
 * What a call resolves to (3. Tools, Calling). `structureFault` is given where the tool has an output schema, and says
 * what is wrong with a structured value. One image is that block, the text beside it as its note; any other mix is the
 * joined text.
 */
export function callValue(
  identifier: string,
  posted: PostedResult,
  structureFault?: (structured: unknown) => string | undefined,
): CallValue {
  if ('error' in posted) return { ok: false, message: posted.error.message };
  const { content, structuredContent, isError } = posted.result;
  if (structureFault) {
    const fault = structuredContent === undefined ? 'structuredContent is missing' : structureFault(structuredContent);
    if (fault === undefined) return { ok: true, json: JSON.stringify(structuredContent) };
    if (isError === true) return rejected(identifier, content);
    return { ok: false, message: `tools.${identifier} gave a result that does not match its outputSchema: ${fault}` };
  }
  if (isError === true) return rejected(identifier, content);
  const [image, ...others] = content.filter((block) => block.type === 'image');
  const allShown = content.every((block) => block.type === 'image' || block.type === 'text');
  if (image === undefined || others.length > 0 || !allShown) return resolved(joinedText(content));
  const { data, mimeType } = image;
  const note = joinedText(content.filter((block) => block !== image));
  return resolved({ type: 'image', data, mimeType, ...(note === '' ? {} : { note }) });
}

function resolved(value: unknown): CallValue {
  return { ok: true, json: JSON.stringify(value) };
}

function rejected(identifier: string, content: readonly ToolContent[]): CallValue {
  const text = joinedText(content);
  return { ok: false, message: text === '' ? `tools.${identifier} failed and did not say why.` : text };
}

function joinedText(content: readonly ToolContent[]): string {
  return content.flatMap(textOf).join('\n');
}

function textOf({ type, text, uri, resource }: ToolContent): string[] {
  if (type === 'text' && text !== undefined) return [text];
  if (type === 'resource_link' && uri !== undefined) return [uri];
  const shown = type === 'resource' ? (resource?.text ?? resource?.uri) : undefined;
  return shown === undefined ? [] : [shown];
}
