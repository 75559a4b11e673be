// K1, K2, K4, K7, K8, K10 and K11 below actors, under seeds: few and always the same here, more with TROUPE_RUNS.

import { simulate } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { library, shards } from './scenarios.ts'
import { tally } from './sim-node.ts'

const seeds = Number(process.env['TROUPE_RUNS'] ?? 25)

for (const scenario of library) {
  test(`${scenario.name}: ${scenario.about}`, async () => {
    const report = await simulate(scenario.run, { ...scenario.options, name: scenario.name, seeds, shrinkTrials: 150 })
    if (process.env['TROUPE_SEED'] !== undefined) return
    expect(report.distinct).toBeGreaterThan(seeds * 0.8)
    // Something happened: by the talk of the first scenario, the strikes of the second.
    expect(tally.arrived).toBeGreaterThan(seeds * 10)
    if (scenario.name === 'cluster lives') expect(tally.ends).toBeGreaterThan(seeds / 2)
  })
}

test('without the fence a write of the past is seen', async () => {
  const report = await simulate((sim) => shards(sim, false), {
    ...library.at(-1)!.options,
    name: 'without the fence',
    // Seed 134 shows it today; 400 from here on, in case the schedules change.
    seeds: { from: 100, count: 400 },
    shrinkTrials: 0,
    onViolation: 'report',
  })
  expect(report.failure?.violation.text).toContain('K7')
})

test('the same seeds give the same runs', async () => {
  for (const scenario of library) {
    const runs: string[][] = [[], []]
    for (const hashes of runs) await simulate(scenario.run, { ...scenario.options, seeds: 3, onRun: (_seed, hash) => hashes.push(hash) })
    expect(runs[0]).toEqual(runs[1])
  }
})
