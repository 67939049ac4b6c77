/** How long `eventually` keeps asking, and how often. */
export interface EventuallyOptions {
  /** By default 10,000. */
  withinMs?: number;
  /** By default 20. */
  everyMs?: number;
}

/**
 * Waits for something that has no event to wait for: calls `check` until it neither throws nor gives `undefined` or
 * `false`, and resolves with what it gave. When the time is over it throws what `check` threw last.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 10_000, everyMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const end = performance.now() + withinMs;
  for (;;) {
    let fault: unknown = new Error(`It did not come true within ${withinMs} ms.`);
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      fault = error;
    }
    if (performance.now() > end) throw fault;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
