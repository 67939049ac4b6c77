/** Something that runs until it is stopped, or dies. */
export interface Running {
  readonly pid: number;
  /** Resolves with the exit code when it has ended. */
  readonly exited: Promise<number>;
  stop(graceMs?: number): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Who lived this long is not in a loop of dying; the next pause is short again. */
const HEALTHY_MS = 60_000;

/** Named states of something that is kept alive. */
export type KeepAliveState = 'starting' | 'running' | 'pausing' | 'stopped';

/** What is kept alive, and whom to tell. */
export interface KeepAliveOptions<T extends Running> {
  start: () => Promise<T>;
  /** It ended unasked; `pauseMs` until the next start. */
  onDeath: (exitCode: number | undefined, pauseMs: number) => void;
  /** It runs again, as somebody else. */
  onRestart: (running: T) => void;
}

/** Starts something and starts it again, after a pause that grows, whenever it dies. Disposing stops it for good. */
export class KeepAlive<T extends Running> implements AsyncDisposable {
  #state: KeepAliveState = 'starting';
  #current: T | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  /** A start under way; a stop waits for it. */
  #pending: Promise<void> = Promise.resolve();
  readonly #options: KeepAliveOptions<T>;

  private constructor(options: KeepAliveOptions<T>) {
    this.#options = options;
  }

  /** The first start; if it fails, so does this. */
  static async start<T extends Running>(options: KeepAliveOptions<T>): Promise<KeepAlive<T>> {
    const kept = new KeepAlive(options);
    kept.#watch(await options.start());
    return kept;
  }

  get state(): KeepAliveState {
    return this.#state;
  }

  /** The one that runs, or ran last. */
  get current(): T {
    if (this.#current === undefined) throw new Error('Nothing has been started.');
    return this.#current;
  }

  #watch(running: T): void {
    this.#current = running;
    this.#state = 'running';
    const since = performance.now();
    void running.exited.then((exitCode) => {
      if (this.#state === 'stopped') return;
      if (performance.now() - since > HEALTHY_MS) this.#pauseMs = FIRST_PAUSE_MS;
      this.#pause(exitCode);
    });
  }

  #pause(exitCode: number | undefined): void {
    this.#state = 'pausing';
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    this.#options.onDeath(exitCode, pauseMs);
    this.#timer = setTimeout(() => {
      this.#pending = this.#startAgain();
    }, pauseMs);
  }

  async #startAgain(): Promise<void> {
    this.#state = 'starting';
    try {
      const running = await this.#options.start();
      if (this.#stopping()) return await running.stop();
      this.#watch(running);
      this.#options.onRestart(running);
    } catch {
      if (!this.#stopping()) this.#pause(undefined);
    }
  }

  #stopping(): boolean {
    return this.#state === 'stopped';
  }

  /** Stops it for good; by force when it is still there after `graceMs`. */
  async stop(graceMs?: number): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    await this.#pending;
    await this.#current?.stop(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
