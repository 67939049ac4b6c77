import { isHigh, isLow } from './surrogates.js';

/** What a cut leaves, and what it was made from. */
export interface BudgetResult {
  /** The one item that stands for all texts. */
  cut: string;
  /** All texts, joined by newlines. */
  full: string;
}

const BYTES_PER_TOKEN = 4;

/** UTF-8 bytes of a text; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Estimated tokens of that many UTF-8 bytes (spec: scripts, Budget). */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Cuts texts that are together over a budget of estimated tokens: start and end are kept, up to 2 x budget bytes
 * each, cut between characters. Works on UTF-16, so lone surrogates and NUL come through unchanged.
 * Returns undefined when the texts fit.
 */
export function applyBudget(texts: readonly string[], maxTokens: number): BudgetResult | undefined {
  const maxBytes = maxTokens * BYTES_PER_TOKEN;
  let chars = Math.max(0, texts.length - 1);
  for (const text of texts) chars += text.length;
  // A UTF-16 unit takes at most three bytes, so most answers are known to fit without being encoded.
  if (chars * 3 <= maxBytes) return undefined;
  const full = texts.join('\n');
  const bytes = utf8Bytes(full);
  if (bytes <= maxBytes) return undefined;

  const head = headWithin(full, 2 * maxTokens);
  const tail = tailWithin(full, 2 * maxTokens);
  const removed = estimateTokens(bytes - utf8Bytes(head) - utf8Bytes(tail));
  const warning = `Warning: truncated output (original token count: ${estimateTokens(bytes)})`;
  const cut = `${warning}\nTotal output lines: ${countLines(full)}\n\n${head}...${removed} tokens truncated...${tail}`;
  return { cut, full };
}

function headWithin(text: string, maxBytes: number): string {
  let end = 0;
  for (let bytes = 0; end < text.length;) {
    const code = text.codePointAt(end) ?? 0;
    bytes += byteLengthOf(code);
    if (bytes > maxBytes) break;
    end += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

function tailWithin(text: string, maxBytes: number): string {
  let start = text.length;
  for (let bytes = 0; start > 0;) {
    const last = text.charCodeAt(start - 1);
    const pair = isLow(last) && start > 1 && isHigh(text.charCodeAt(start - 2));
    bytes += pair ? 4 : byteLengthOf(last);
    if (bytes > maxBytes) break;
    start -= pair ? 2 : 1;
  }
  return text.slice(start);
}

function byteLengthOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}

/** Lines of a text; a newline at its end closes a line and opens none. */
function countLines(text: string): number {
  let lines = 0;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) lines++;
  return text.length > 0 && !text.endsWith('\n') ? lines + 1 : lines;
}
