import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** `short` in the suite, `long` by `npm run hardening`. */
    hardening: keyof typeof lengths;
  }
}

const lengths = {
  short: { fuzzRuns: 300, httpRuns: 60, images: 20, cells: 400, maxGrowth: 0.5 },
  long: { fuzzRuns: 50_000, httpRuns: 5_000, images: 10_000, cells: 10_000, maxGrowth: 0.1 },
} as const;

/** How much the runs of this folder do: numbers of inputs and cells, and by what share memory may grow. */
export const length: (typeof lengths)[keyof typeof lengths] = lengths[inject('hardening')];

/** Says what a run came to, in one line. */
export function report(what: string, facts: Readonly<Record<string, unknown>>): void {
  console.log(`${what}: ${JSON.stringify(facts)}`);
}
