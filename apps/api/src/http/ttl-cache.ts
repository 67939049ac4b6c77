import type { Clock } from '#libs/core';

interface Entry<Value> {
  value: Value;
  /** Monotonic ms. */
  until: number;
}

/** Remembers what was loaded, for a short time and in a bounded number; requests for the same key share one load. */
export class TtlCache<Value> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loading = new Map<string, Promise<Value>>();

  constructor(clock: Clock, options: { ttlMs: number; maxEntries: number }) {
    this.#clock = clock;
    this.#ttlMs = options.ttlMs;
    this.#maxEntries = options.maxEntries;
  }

  /** What is remembered, else what `load` gives. A load that fails is not remembered. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#clock.monotonic()) {
      // Moved to the end: the one least recently used is the first to go.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return entry.value;
    }
    return this.#loading.get(key) ?? this.#load(key, load);
  }

  /** Forgets a key; a load of it that is under way is not remembered, as it may have read what was before. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  #load(key: string, load: () => Promise<Value>): Promise<Value> {
    // Counted from before the load: what was read is at least as old as that.
    const until = this.#clock.monotonic() + this.#ttlMs;
    const settle = (): boolean => this.#loading.get(key) === loading && this.#loading.delete(key);
    const loading: Promise<Value> = load().then(
      (value) => {
        if (settle()) this.#remember(key, { value, until });
        return value;
      },
      (error: unknown) => {
        settle();
        throw error;
      },
    );
    this.#loading.set(key, loading);
    return loading;
  }

  #remember(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
