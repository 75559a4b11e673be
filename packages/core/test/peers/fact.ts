// A fact that the test suite of another actor system states and that Troupe promises too, as a test of its own. Its title
// ends with the suite and the case in which the peer has it; `facts.test.ts` looks for these, so `origin` is written out
// where it is used. The kit is ended afterwards, which fails on a leak and on a ledger that does not add up.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { test } from 'vitest'

export function fact(origin: `${string}: ${string}`, claim: string, run: (kit: TestKit) => Promise<void> | void): void {
  test(`${claim} (${origin})`, async () => {
    const kit = createTestKit()
    await run(kit)
    await kit.end()
  })
}
