import type { Logger } from '#libs/telemetry';
import { Piscina } from 'piscina';
import { threadFile } from './thread-file.js';

const THREAD_HEAP_MB = 512;

/** A pool of threads that costs nothing until it is used. */
export class LazyPool<Task, Result> implements AsyncDisposable {
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
