import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// Tests run against the sources, so that a stack trace points at them; the built output is tried by the examples.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@troupe\/core$/, replacement: source('./packages/core/src/index.ts') },
      { find: /^@troupe\/core\/internal$/, replacement: source('./packages/core/src/internal.ts') },
      { find: /^@troupe\/border$/, replacement: source('./packages/border/src/index.ts') },
      { find: /^@troupe\/node\/threads$/, replacement: source('./packages/node/src/threads/index.ts') },
      { find: /^@troupe\/node$/, replacement: source('./packages/node/src/index.ts') },
      { find: /^@troupe\/node\/internal$/, replacement: source('./packages/node/src/internal.ts') },
      { find: /^@troupe\/testkit\/internal$/, replacement: source('./packages/testkit/src/internal.ts') },
      { find: /^@troupe\/testkit$/, replacement: source('./packages/testkit/src/index.ts') },
    ],
  },
  test: {
    // All cores: the default leaves one idle, which is half of a small machine.
    maxWorkers: '100%',
    // Generous, because machines are shared; no test waits for real time, so a hang is a hang.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'examples/*/src/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'tools/*.test.ts',
    ],
  },
})
