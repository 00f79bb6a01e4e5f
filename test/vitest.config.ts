import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // When a test hangs, not when it is slow: two workers share the machine with browsers, databases and whole frameworks.
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
