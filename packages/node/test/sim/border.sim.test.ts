import { simulate } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { library } from './index.ts'

// Few seeds, always the same, so that a change that breaks a promise is seen at once; `npm run sim` runs many.
const seeds = 25

for (const scenario of library) {
  test(`${scenario.name}: ${scenario.about}`, async () => {
    const replay = (seed: number): string => `TROUPE_SEED=${seed} npx vitest run packages/node/test/sim -t '${scenario.name}'`
    const report = await simulate(scenario.run, { strategy: 'mixed', ...scenario.options, name: scenario.name, seeds, replay })
    if (process.env['TROUPE_SEED'] === undefined) expect(report.distinct).toBeGreaterThan(seeds * 0.9)
  })
}

test('the same seeds give the same traces across threads, byte for byte', async () => {
  for (const scenario of library) {
    const runs: string[][] = [[], []]
    for (const hashes of runs)
      await simulate(scenario.run, { strategy: 'mixed', ...scenario.options, seeds: 3, onRun: (_seed, hash) => hashes.push(hash) })
    expect(runs[0]).toEqual(runs[1])
  }
})
