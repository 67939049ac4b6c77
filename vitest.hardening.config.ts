import { mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

// npm run hardening: the same tests as in the suite, for as long as it takes to trust them.
const config = mergeConfig(base, {
  test: { provide: { hardening: 'long' }, testTimeout: 3_600_000, maxWorkers: 1, reporters: ['verbose'] },
});
config.test.include = ['test/hardening/*.test.ts'];

export default config;
