import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['libs/**/*.test.ts', 'apps/**/*.test.ts', 'prisma/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['libs/testing/src/global-setup.ts'],
    setupFiles: ['libs/testing/src/nothing-left.ts'],
    provide: { hardening: 'short' },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores do for two files at a time; more would only make those that watch the clock wait.
    maxWorkers: 2,
  },
});
