import { expect, test } from 'vitest'
import { simulate } from '../sim/simulate.ts'
import { library } from './index.ts'

// Few seeds, always the same, so that a change that breaks a promise is seen at once; `npm run sim` runs many.
const seeds = 40

// Seeds that once led to a bug of the core, by scenario as it was then; each bug has a plain test of its own beside the core's.
const found: Readonly<Record<string, readonly number[]>> = {
  'ask cycles': [8, 19, 415],
  'bounded mailboxes': [1989],
  escalation: [200755],
  'group restarts': [140],
  'lifecycle storm': [383],
  limits: [100136],
  'moving messages': [13, 63, 73, 390],
  'sibling refs': [159, 564],
  'watch races': [21],
}

for (const scenario of library) {
  test(`${scenario.name}: ${scenario.about}`, async () => {
    const replay = (seed: number): string => `TROUPE_SEED=${seed} npx vitest run packages/testkit/src/library -t '${scenario.name}'`
    const options = { strategy: 'mixed', ...scenario.options, name: scenario.name, replay } as const
    const report = await simulate(scenario.run, { ...options, seeds })
    await simulate(scenario.run, { ...options, seeds: found[scenario.name] ?? [] })
    if (process.env['TROUPE_SEED'] === undefined) expect(report.distinct).toBeGreaterThan(seeds * 0.9)
  })
}

test('the same seeds give the same traces, byte for byte', async () => {
  for (const scenario of library) {
    const runs: string[][] = [[], []]
    for (const hashes of runs)
      await simulate(scenario.run, { strategy: 'mixed', ...scenario.options, seeds: 4, onRun: (_seed, hash) => hashes.push(hash) })
    expect(runs[0]).toEqual(runs[1])
  }
})

test('a seed gives the same run alone as among others', async () => {
  for (const scenario of library) {
    const hashes = new Map<number, string>()
    const options = { strategy: 'mixed', ...scenario.options, onRun: (seed: number, hash: string) => void hashes.set(seed, hash) } as const
    await simulate(scenario.run, { ...options, seeds: 5 })
    const among = hashes.get(5)
    await simulate(scenario.run, { ...options, seeds: [5] })
    expect(hashes.get(5)).toBe(among)
  }
})
