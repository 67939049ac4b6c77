/** Time as the process sees it. Injected, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch, for showing and storing. */
  now(): number;
  /** Milliseconds that never go back, for measuring and for leases. */
  monotonic(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
