import { type Fault, UnavailableError } from '#libs/core';
import { formatResult, type FormatInput, type FormattedResult } from '#libs/script';
import type { Logger } from '#libs/telemetry';
import { Piscina } from 'piscina';
import { NOT_BEGUN, type SchemaTask } from './protocol.js';
import { exceededBound } from './schema-bounds.js';
import type { SchemaToCheck } from './schema-check.js';
import { threadFile } from './thread-file.js';

/** Threads for costly pure work: nothing whose cost a caller chooses runs on a main thread (spec: protocols, 20). */
export interface Offload extends AsyncDisposable {
  /** `formatResult` of libs/script, in place for small outputs and in a thread for large ones. */
  formatResult(input: FormatInput): Promise<FormattedResult>;
  /**
   * All that is wrong with tool schemas, with pointers that continue those given; empty when they can be used.
   * Schemas are limited in size, depth and nodes, and in the time that they take together.
   */
  checkSchemas(schemas: readonly SchemaToCheck[]): Promise<Fault[]>;
}

/** How an offload is made. */
export interface OffloadOptions {
  /** Threads that format; schemas have one of their own, so that they cannot hold up answers. */
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
const THREAD_HEAP_MB = 512;

/** Makes an offload. Threads start when they are first needed. */
export function createOffload({ threads, logger, schemaTimeoutMs = SCHEMA_TIMEOUT_MS }: OffloadOptions): Offload {
  const formatters = new LazyPool<FormatInput, FormattedResult>('format-thread', threads, logger);
  const checkers = new LazyPool<SchemaTask, Fault[]>('schema-thread', 1, logger);
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
      return [...tooLarge, ...(await checkInThread(checkers.get(), bounded, schemaTimeoutMs))];
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([formatters[Symbol.asyncDispose](), checkers[Symbol.asyncDispose]()]);
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

async function checkInThread(
  pool: Piscina<SchemaTask, Fault[]>,
  schemas: readonly SchemaToCheck[],
  timeoutMs: number,
): Promise<Fault[]> {
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(NOT_BEGUN);
  const killer = new AbortController();
  const queuedAt = performance.now();
  let begunAt: number | undefined;
  // The time that a task waits for the thread is not its own, so it counts from when the thread says that it began.
  const watch = setInterval(
    () => {
      const now = performance.now();
      if (begunAt === undefined && Atomics.load(progress, 0) !== NOT_BEGUN) begunAt = now;
      if (now - (begunAt ?? queuedAt) > (begunAt === undefined ? 6 * timeoutMs : timeoutMs)) killer.abort();
    },
    Math.max(1, timeoutMs / 50),
  );
  try {
    return await pool.run({ schemas, progress }, { signal: killer.signal });
  } catch (thrown) {
    if (!killer.signal.aborted) throw thrown;
    const culprit = schemas[Atomics.load(progress, 0)];
    if (culprit === undefined) throw new UnavailableError('The check of schemas', { cause: thrown });
    const detail = `takes too long to check: all schemas together had ${timeoutMs} ms. Make it simpler.`;
    return [{ pointer: culprit.pointer, detail }];
  } finally {
    clearInterval(watch);
  }
}

/** A pool that costs nothing until it is used. */
class LazyPool<Task, Result> implements AsyncDisposable {
  #pool: Piscina<Task, Result> | undefined;

  constructor(
    private readonly file: string,
    private readonly threads: number,
    private readonly logger: Logger | undefined,
  ) {}

  get(): Piscina<Task, Result> {
    if (this.#pool !== undefined) return this.#pool;
    const pool = new Piscina<Task, Result>({
      filename: threadFile(this.file),
      minThreads: this.threads,
      maxThreads: this.threads,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      // A thread needs none of what its process was started with: no secrets, no telemetry, no conditions.
      execArgv: [],
      env: {},
    });
    pool.on('error', (err: unknown) => this.logger?.error({ err }, 'a thread for costly work failed'));
    this.#pool = pool;
    return pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.destroy();
  }
}
