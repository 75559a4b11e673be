import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tools/test/order.ts'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Each file in a process of its own: these look at their process or end threads in it, or load what others have loaded, once more. */
const alone = [
  'packages/node/test/!(*.sim).test.ts',
  'tools/*.test.ts',
  'packages/core/test/heap.test.ts',
  'packages/core/test/mailbox-memory.test.ts',
]
/** Other files once more, where threads share no memory: by `npm run test:ports`, which CI runs too. */
const again = ['packages/node/test/ports.test.ts']
/** What a stranger does with packages and commands, what types cost each compiler, how a release is made: by `npm run test:packed`, which CI runs too. */
const packed = ['tools/consumers.test.ts', 'tools/type-cost.test.ts', 'tools/commands.test.ts', 'tools/sim-command.test.ts', 'tools/release.test.ts']
/** Many files in one process after another, which loads the sources once. */
const together = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/*/src/**/*.test.ts', 'examples/*/test/**/*.test.ts']

// Tests run against the sources, so that a stack trace points at them; the built output is tried by the examples.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@troupe\/core$/, replacement: source('./packages/core/src/index.ts') },
      { find: /^@troupe\/core\/internal$/, replacement: source('./packages/core/src/internal.ts') },
      { find: /^@troupe\/sqlite$/, replacement: source('./packages/sqlite/src/index.ts') },
      { find: /^@troupe\/border$/, replacement: source('./packages/border/src/index.ts') },
      { find: /^@troupe\/persistence\/testing$/, replacement: source('./packages/persistence/src/testing.ts') },
      { find: /^@troupe\/persistence$/, replacement: source('./packages/persistence/src/index.ts') },
      { find: /^@troupe\/observer\/findings$/, replacement: source('./packages/observer/src/findings.ts') },
      { find: /^@troupe\/observer\/capsule$/, replacement: source('./packages/observer/src/capsule.ts') },
      { find: /^@troupe\/create$/, replacement: source('./packages/create/src/index.ts') },
      { find: /^@troupe\/cli$/, replacement: source('./packages/cli/src/index.ts') },
      { find: /^@troupe\/observer$/, replacement: source('./packages/observer/src/index.ts') },
      { find: /^@troupe\/cluster\/testing$/, replacement: source('./packages/cluster/src/testing.ts') },
      { find: /^@troupe\/cluster\/internal$/, replacement: source('./packages/cluster/src/internal.ts') },
      { find: /^@troupe\/cluster$/, replacement: source('./packages/cluster/src/index.ts') },
      { find: /^@troupe\/node\/threads$/, replacement: source('./packages/node/src/threads/index.ts') },
      { find: /^@troupe\/node$/, replacement: source('./packages/node/src/index.ts') },
      { find: /^@troupe\/node\/internal$/, replacement: source('./packages/node/src/internal.ts') },
      { find: /^@troupe\/testkit\/internal$/, replacement: source('./packages/testkit/src/internal.ts') },
      { find: /^@troupe\/testkit$/, replacement: source('./packages/testkit/src/index.ts') },
    ],
  },
  test: {
    // One more than there are cores: the default leaves one idle, and who tries a browser, a process or a server waits for it half of the time.
    maxWorkers: availableParallelism() + 1,
    // Generous, because machines are shared: what takes two seconds alone takes more than a minute where forty processes want the cores. Longer
    // than what tests wait for in themselves, so that it is the test that says what did not come.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: together,
          exclude: alone,
          isolate: false,
          setupFiles: [source('./tools/sim-timeout.ts'), source('./tools/budget-check.ts')],
        },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude: [...again, ...packed], setupFiles: [source('./tools/budget-check.ts')] } },
      { extends: true, test: { name: 'ports', include: again } },
      { extends: true, test: { name: 'packed', include: packed } },
    ],
  },
})
