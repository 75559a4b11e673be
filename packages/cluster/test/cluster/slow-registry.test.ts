// A registry that answers late, or not at all for a while, while a node joins.

import { expect, test } from 'vitest'
import { calm } from '../../src/engines/memory/weather.ts'
import { onStage } from './stage.ts'

test.each([
  ['answers too late', { ...calm, delay: [1_200, 1_200] as const }],
  ['answers nothing', { ...calm, drop: 1 }],
  ['loses every second word', { ...calm, drop: 0.5, delay: [1, 5] as const }],
])('a node joins when the registry %s for ten seconds, and nothing of it is there twice', (_how, faults) =>
  onStage(
    async (stage) => {
      const { hub, sim } = stage.world
      const [a] = await stage.nodes('a')
      // Each node waits 2 s for an answer, of which one way takes more than half.
      hub.registryFaults = faults
      sim.after(10_000, () => (hub.registryFaults = calm))
      const b = stage.world.start('b')
      await stage.until('b has joined', () => b.state !== 'joining', 40_000)
      expect([b.state, b.refusal]).toEqual(['alive', undefined])
      await stage.until('a knows', () => a!.isUp && a!.cluster!.members.length === 2)
      expect(hub.store.list('session').map(({ key }) => key)).toEqual(['session.a', 'session.b'])
    },
    { lease: 20_000 },
  ),
)

test('a node whose registry never answers is refused after half a minute', () =>
  onStage(async (stage) => {
    stage.world.hub.registryFaults = { ...calm, drop: 1 }
    const since = stage.world.sim.now
    const a = stage.world.start('a')
    await stage.until('it is refused', () => a.state === 'refused', 40_000)
    expect(a.refusal).toMatchObject({ code: 'registry-unavailable' })
    expect(stage.world.sim.now - since).toBeGreaterThanOrEqual(30_000)
  }))
