import {
  type CellFailure,
  type CellState,
  type CellWarning,
  type Dialect,
  type MediaItem,
  type OutputItem,
  artifactIdOf,
} from '#libs/core';
import { createHash } from 'node:crypto';
import { applyBudget } from './budget.js';
import { formatSize } from './sizes.js';
import { encodeText } from './text-bytes.js';

/** One block of MCP content, as a model reads it. */
export type ContentBlock = { type: 'text'; text: string } | { type: 'image' | 'audio'; data: string; mimeType: string };

/** A tool call, as it is named beside a failure. */
export interface CallSummary {
  identifier: string;
  state: 'running' | 'completed' | 'failed' | 'cancelled';
}

/** All that an answer is made from. Plain data: it crosses to another thread when it is large. */
export interface FormatInput {
  dialect: Dialect;
  /** The state that the observer is told. */
  state: Exclude<CellState, 'queued'>;
  cellId: string;
  /** Time since the cell was accepted, in ms. */
  wallMs: number;
  /** What has not been collected yet, in order. */
  items: readonly OutputItem[];
  failure?: CellFailure;
  /** Calls made before a failure. */
  calls?: readonly CallSummary[];
  warnings?: readonly CellWarning[];
  /** Output budget, in estimated tokens. */
  maxTokens: number;
}

/** The text of an answer before it was cut. */
export interface FullText {
  /** Made from the cell and the text: an answer that is given again names the same artifact. */
  artifactId: string;
  /** As `encodeText` gives it. */
  bytes: Uint8Array;
}

/** An answer's content. */
export interface FormattedResult {
  content: ContentBlock[];
  /** Of a final answer that was cut: to be kept under the id that the content names. */
  fullText?: FullText;
}

/**
 * Makes the content blocks of one answer (spec: scripts, Output and Budget): a header, the items, the failure with
 * the calls before it, the warnings, and the console block; text that is over the budget keeps its start and end, and
 * files come after it then.
 * A running `codemode` cell shows its header alone: all its items come with the end.
 */
export function formatResult(input: FormatInput): FormattedResult {
  const content: ContentBlock[] = [textBlock(header(input))];
  const final = input.state !== 'running';
  if (input.dialect === 'codemode' && !final) return { content };

  const pieces = collectPieces(input);
  const texts = pieces.filter((piece) => typeof piece === 'string');
  const budgeted = applyBudget(texts, input.maxTokens);
  if (budgeted !== undefined) content.push(textBlock(budgeted.cut));
  for (const piece of pieces) {
    if (typeof piece !== 'string') content.push(...mediaBlocks(piece));
    else if (budgeted === undefined) content.push(textBlock(piece));
  }
  if (budgeted === undefined || !final) return { content };
  const fullText = fullTextOf(input.cellId, budgeted.full);
  content.push(textBlock(`[Full output saved as ${fullText.artifactId}]`));
  return { content, fullText };
}

function fullTextOf(cellId: string, text: string): FullText {
  // A plain array in memory of its own: that is what crosses threads unchanged.
  const bytes = Uint8Array.from(encodeText(text));
  const hash = createHash('sha256').update(bytes).digest('base64url');
  return { artifactId: artifactIdOf(cellId, `output ${hash}`), bytes };
}

/** Texts and files in their order. */
function collectPieces({ dialect, items, failure, calls, warnings }: FormatInput): (string | MediaItem)[] {
  const pieces: (string | MediaItem)[] = [];
  const consoleLines: string[] = [];
  const total = items.reduce((count, { kind }) => (kind === 'text' ? count + 1 : count), 0);
  const isCounted = dialect === 'codemode' && total > 1;
  let number = 0;
  for (const item of items) {
    switch (item.kind) {
      case 'text':
        number += 1;
        pieces.push(isCounted ? `==> text ${number}/${total} <==\n${item.text}` : item.text);
        break;
      case 'console':
        consoleLines.push(item.text);
        break;
      case 'image':
      case 'audio':
        pieces.push(item);
        break;
      default:
        unknownKind(item);
    }
  }
  if (failure !== undefined) pieces.push(describeFailure(failure, calls));
  for (const warning of warnings ?? []) pieces.push(`Warning: ${warning.message}`);
  if (consoleLines.length > 0) pieces.push(`<console_output>\n${consoleLines.join('\n')}\n</console_output>`);
  return pieces;
}

/** A file, after the name under which an image is kept. */
function mediaBlocks({ kind, data, mimeType, artifactId }: MediaItem): ContentBlock[] {
  const block: ContentBlock = { type: kind, data, mimeType };
  if (kind === 'audio' || artifactId === undefined) return [block];
  return [textBlock(`[Image saved as ${artifactId} (${mimeType}, ${formatSize(base64Bytes(data))})]`), block];
}

/** Bytes of a file in base64 without whitespace. */
export function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return (data.length / 4) * 3 - padding;
}

function header({ state, cellId, wallMs }: FormatInput): string {
  const status = state === 'running' ? `Script running with cell ID ${cellId}` : `Script ${state}`;
  return `${status}\nWall time ${(wallMs / 1000).toFixed(1)} seconds\nOutput:\n`;
}

function describeFailure(failure: CellFailure, calls: readonly CallSummary[] = []): string {
  const lines = ['Script error:', failure.message];
  if (failure.frames !== undefined && failure.frames !== '') lines.push(failure.frames);
  if (calls.length > 0) {
    const list = calls.map((call) => `${call.identifier} (${call.state})`).join(', ');
    lines.push(`Tool calls made before the failure (they are not undone): ${list}`);
  }
  return lines.join('\n');
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function unknownKind(item: never): never {
  throw new TypeError(`Unknown kind of output item: ${JSON.stringify(item)}`);
}
