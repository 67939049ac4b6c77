import { type Fault, UnavailableError } from '#libs/core';
import {
  type BoundToolset,
  type CallValue,
  type FormatInput,
  type FormattedResult,
  type PostedResult,
  callValue,
  formatResult,
  packView,
} from '#libs/script';
import type { Logger } from '#libs/telemetry';
import { LazyPool } from './lazy-pool.js';
import { type InstanceTask, NOT_BEGUN, PHASE, type SchemaTask } from './protocol.js';
import { exceededBound } from './schema-bounds.js';
import type { SchemaToCheck } from './schema-check.js';
import { runTimed } from './timed.js';

/** Threads for costly pure work: nothing whose cost a caller chooses runs on a main thread (spec: protocols, 20). */
export interface Offload extends AsyncDisposable {
  /** `formatResult` of libs/script, in place for small outputs and in a thread for large ones. */
  formatResult(input: FormatInput): Promise<FormattedResult>;
  /**
   * All that is wrong with tool schemas, with pointers that continue those given; empty when they can be used.
   * Schemas are limited in size, depth and nodes, and in the time that they take together.
   */
  checkSchemas(schemas: readonly SchemaToCheck[]): Promise<Fault[]>;
  /** What is wrong with a call's arguments, as a pointer and words; undefined: nothing. Both are JSON texts. */
  checkArguments(inputSchema: string, args: string): Promise<string | undefined>;
  /** What a call does in its script, from what was posted (JSON text) and the tool's output schema if it has one. */
  callValue(call: { identifier: string; outputSchema: string | undefined; result: string }): Promise<CallValue>;
  /** `packView` of libs/script, in place for small toolsets and in a thread for large ones. */
  packView(toolsets: readonly BoundToolset[]): Promise<SharedArrayBuffer>;
}

/** How an offload is made. */
export interface OffloadOptions {
  /** Threads that format; schemas and values have others, so that they cannot hold up answers. */
  threads: number;
  /** Told of threads that fail. */
  logger?: Logger;
  /** How long the schemas of one request may take together, in ms, from when their thread begins. */
  schemaTimeoutMs?: number;
}

const IN_PLACE_CHARS = 65_536;
/** What an item costs beside its text, in characters: many small items are a large output too. */
const ITEM_CHARS = 32;
const SCHEMA_TIMEOUT_MS = 5_000;
/** A pattern can hold a check for hours: one value has this long, in ms, and up to 8 MiB are read in it. */
const VALUE_TIMEOUT_MS = 50;
const RESULT_TIMEOUT_MS = 500;
const VALUE_QUEUE_MS = 10_000;
const VALUE_THREADS = 1;

/** Makes an offload. Threads start when they are first needed. */
export function createOffload({ threads, logger, schemaTimeoutMs = SCHEMA_TIMEOUT_MS }: OffloadOptions): Offload {
  const formatters = new LazyPool<FormatInput, FormattedResult>('format-thread', threads, logger);
  const checkers = new LazyPool<SchemaTask, Fault[]>('schema-thread', 1, logger);
  const values = new LazyPool<InstanceTask, string | undefined | CallValue>('instance-thread', VALUE_THREADS, logger);
  const packers = new LazyPool<readonly BoundToolset[], SharedArrayBuffer>('view-thread', 1, logger);
  return {
    async formatResult(input) {
      return isSmall(input) ? formatResult(input) : formatters.get().run(input);
    },

    async checkSchemas(schemas) {
      const tooLarge: Fault[] = [];
      const bounded: SchemaToCheck[] = [];
      for (const entry of schemas) {
        const bound = exceededBound(entry.schema);
        if (bound === undefined) bounded.push(entry);
        else tooLarge.push({ pointer: entry.pointer, detail: `is too large a schema: it ${bound}` });
      }
      if (bounded.length === 0) return tooLarge;
      return [...tooLarge, ...(await checkInThread(checkers, bounded, schemaTimeoutMs))];
    },

    async checkArguments(inputSchema, args) {
      const task = { kind: 'arguments' as const, schema: inputSchema, value: args };
      const done = await runTimed(values.get(), task, valueLimits(VALUE_TIMEOUT_MS));
      if (done.kind === 'done') return done.result as string | undefined;
      return tooLong(done.at, VALUE_TIMEOUT_MS);
    },

    async callValue({ identifier, outputSchema, result }) {
      if (outputSchema === undefined && result.length <= IN_PLACE_CHARS) {
        return callValue(identifier, JSON.parse(result) as PostedResult);
      }
      const task = { kind: 'result' as const, identifier, schema: outputSchema, value: result };
      const done = await runTimed(values.get(), task, valueLimits(RESULT_TIMEOUT_MS));
      if (done.kind === 'done') return done.result as CallValue;
      return { ok: false, message: `the result of tools.${identifier} ${tooLong(done.at, RESULT_TIMEOUT_MS)}` };
    },

    async packView(toolsets) {
      const chars = toolsets.reduce((sum, { text }) => sum + text.length, 0);
      return chars <= IN_PLACE_CHARS ? packView(toolsets) : packers.get().run(toolsets);
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([formatters, checkers, values, packers].map((pool) => pool[Symbol.asyncDispose]()));
    },
  };
}

function isSmall({ items }: FormatInput): boolean {
  let chars = items.length * ITEM_CHARS;
  for (let index = 0; index < items.length && chars <= IN_PLACE_CHARS; index++) {
    const item = items[index];
    // Files are handed on as they are.
    if (item !== undefined && 'text' in item) chars += item.text.length;
  }
  return chars <= IN_PLACE_CHARS;
}

/** Compiling a schema may take as long as when it was registered; the value is another matter. */
function valueLimits(valueMs: number) {
  const runMs = (at: number): number => (at === PHASE.compiling ? SCHEMA_TIMEOUT_MS : valueMs);
  return { queueMs: VALUE_QUEUE_MS, runMs, everyMs: 10 };
}

function tooLong(at: number, limitMs: number): string {
  if (at === NOT_BEGUN) return 'could not be checked: too many values are being checked now, try again';
  return `takes too long to check against the schema of the tool: a value has ${limitMs} ms. Make it simpler`;
}

async function checkInThread(
  pool: LazyPool<SchemaTask, Fault[]>,
  schemas: readonly SchemaToCheck[],
  timeoutMs: number,
): Promise<Fault[]> {
  const limits = { queueMs: 6 * timeoutMs, runMs: () => timeoutMs, everyMs: Math.max(1, timeoutMs / 50) };
  const done = await runTimed(pool.get(), { schemas }, limits);
  if (done.kind === 'done') return done.result;
  const culprit = schemas[done.at];
  if (culprit === undefined) throw new UnavailableError('The check of schemas');
  const detail = `takes too long to check: all schemas together had ${timeoutMs} ms. Make it simpler.`;
  return [{ pointer: culprit.pointer, detail }];
}
