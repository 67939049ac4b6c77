import { Buffer } from 'node:buffer';
import type { NamedTool } from './identifiers.js';
import type { ToolText } from './declaration.js';

/** A tool's names. */
export interface ToolName extends NamedTool {
  /** The name in scripts. */
  identifier: string;
}

/** What a view keeps of a tool that scripts can call. */
export type ToolRecord = ToolName & ToolText;

/** A namespace's texts, from the toolsets whose tools are in it. */
export interface NamespaceText {
  name: string;
  description?: string | undefined;
  instructions?: string | undefined;
}

/** The tools of one writer's view. */
export interface ViewContent<Tool extends ToolRecord = ToolRecord> {
  tools: readonly Tool[];
  /** Tools of the model that scripts cannot call. */
  modelOnly: readonly ToolName[];
  namespaces: readonly NamespaceText[];
}

/** The part of a view that is read as a whole. */
export type ViewNames = Pick<ViewContent, 'modelOnly' | 'namespaces'> & { tools: readonly ToolName[] };

const WORD_BYTES = 4;

/**
 * A view in shared memory: handing it to a thread costs the same for any number of tools, and so does reading one tool
 * of it. Layout: the number of texts, where each ends, and the texts as JSON: the names, then one record per tool.
 */
export function packContent({ tools, modelOnly, namespaces }: ViewContent): SharedArrayBuffer {
  const names: ViewNames = {
    tools: tools.map(({ identifier, name, namespace }) => ({ identifier, name, namespace })),
    modelOnly,
    namespaces,
  };
  const texts = [names, ...tools].map((part) => JSON.stringify(part));
  const headWords = 1 + texts.length;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const memory = new SharedArrayBuffer(headWords * WORD_BYTES + bytes);
  const head = new Uint32Array(memory, 0, headWords);
  head[0] = texts.length;
  const target = Buffer.from(memory);
  let end = headWords * WORD_BYTES;
  for (const [index, text] of texts.entries()) {
    end += target.write(text, end);
    head[index + 1] = end;
  }
  return memory;
}

/** Reads what {@link packContent} wrote. */
export class PackedView<Tool extends ToolRecord = ToolRecord> {
  private readonly head: Uint32Array;
  private readonly bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    const [texts = 0] = new Uint32Array(memory, 0, 1);
    this.head = new Uint32Array(memory, 0, 1 + texts);
    this.bytes = Buffer.from(memory);
  }

  /** Parses all names. */
  names(): ViewNames {
    return this.parse(0) as ViewNames;
  }

  /** The tool at a position of `names().tools`. Throws a RangeError when there is none. */
  tool(position: number): Tool {
    if (position < 0) throw new RangeError(`a view has no tool ${position}`);
    return this.parse(position + 1) as Tool;
  }

  private parse(index: number): unknown {
    const end = this.head[index + 1];
    if (end === undefined) throw new RangeError(`the view has no tool ${index - 1}`);
    const start = index === 0 ? this.head.byteLength : this.head[index];
    return JSON.parse(this.bytes.toString('utf8', start, end));
  }
}
