import type { CarriedEnd } from '#libs/contracts';
import { newObserverToken } from '#libs/core';

/** One request that waits for one cell, in this process. Rings that come while nobody listens are remembered. */
export class Observation implements Disposable {
  readonly cellId: string;
  /** What the row holds while this request has the place: `{process id}.{token}`. */
  readonly observer: string;
  readonly #close: () => void;
  #end: CarriedEnd | undefined;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(cellId: string, observer: string, close: () => void) {
    this.cellId = cellId;
    this.observer = observer;
    this.#close = close;
  }

  /** There may be something in the row; or it has the end, and here it is. */
  ring(end?: CarriedEnd): void {
    this.#end ??= end;
    this.#rung = true;
    this.#wake?.();
  }

  /** The end that a doorbell carried. */
  get end(): CarriedEnd | undefined {
    return this.#end;
  }

  /** Resolves at the next ring (also one since the last call), after `ms`, or when the signal aborts. */
  async news(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((done) => (resolve = done));
      const timer = setTimeout(resolve, Math.max(0, ms));
      signal.addEventListener('abort', resolve);
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
      signal.removeEventListener('abort', resolve);
      clearTimeout(timer);
    }
    this.#rung = false;
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}

/** The observations of this process, found by the token that a doorbell carries. */
export class Observations {
  readonly #processId: string;
  readonly #byObserver = new Map<string, Observation>();

  constructor(processId: string) {
    this.#processId = processId;
  }

  /** Begins one: from now on its doorbell is heard, so the row may be written or looked at. */
  begin(cellId: string): Observation {
    const observer = `${this.#processId}.${newObserverToken()}`;
    const observation = new Observation(cellId, observer, () => this.#byObserver.delete(observer));
    this.#byObserver.set(observer, observation);
    return observation;
  }

  ring(observer: string, end?: CarriedEnd): void {
    this.#byObserver.get(observer)?.ring(end);
  }

  /** Everything waited for is to be looked at again: bells may have been missed. */
  ringAll(): void {
    for (const observation of this.#byObserver.values()) observation.ring();
  }

  all(): Observation[] {
    return [...this.#byObserver.values()];
  }
}
