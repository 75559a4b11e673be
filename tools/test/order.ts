// Which files of tests come first: one that takes long and begins last is waited for by all workers but one. Vitest itself goes by what it
// remembers of the last run, and where it remembers nothing, as in a fresh clone, by size, which says little here.

import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from '../markdown.ts'

/** Those that take more than some five seconds on two cores, longest first. */
export const longest: readonly string[] = [
  'tools/consumers.test.ts',
  'packages/observer/test/page/browser.test.ts',
  'packages/node/test/behaviours.test.ts',
  'tools/doc-examples.test.ts',
  'packages/node/test/sim/border.sim.test.ts',
  'tools/commands.test.ts',
  'packages/cluster/test/sim/cluster.sim.test.ts',
  'tools/type-cost.test.ts',
  'packages/node/test/faults.test.ts',
  'examples/airlift/test/cluster.test.ts',
  'tools/release.test.ts',
  'examples/airlift/test/buttons.test.ts',
  'packages/core/test/heap.test.ts',
  'packages/persistence/test/copying.test.ts',
  'packages/persistence/test/postgres.test.ts',
  'examples/cluster/src/rooms.test.ts',
  'packages/persistence/test/trouble.test.ts',
  'packages/cluster/test/nats.test.ts',
  'packages/cluster/test/nats-membership.test.ts',
  'packages/testkit/src/library/library.sim.test.ts',
  'packages/persistence/test/chaos.test.ts',
  'packages/node/test/long-work.test.ts',
  'packages/node/test/border.test.ts',
  'packages/node/test/echo.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(relative(root, moduleId).replaceAll('\\', '/'))
      return at < 0 ? longest.length : at
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
