// How soon a lost thread may be replaced, on time that moves only when told.

import { expect, test } from 'vitest'
import { VirtualClock } from '@troupe/testkit'
import { ManualRuntime } from '@troupe/core'
import { Replacements } from './replacements.ts'

function setup(): { clock: VirtualClock; runtime: ManualRuntime; replacements: Replacements } {
  const clock = new VirtualClock()
  const runtime = new ManualRuntime({ now: () => clock.now, random: () => 0 })
  return { clock, runtime, replacements: new Replacements(runtime) }
}

async function readyAfter({ clock, runtime, replacements }: ReturnType<typeof setup>, place: number): Promise<number> {
  const since = clock.now
  let ready = false
  void replacements.ready(place).then(() => (ready = true))
  for (let waited = 0; waited < 20_000; waited++) {
    runtime.pump()
    await Promise.resolve()
    if (ready) return clock.now - since
    clock.tick(1)
  }
  return Infinity
}

test('the first losses of a place are replaced at once, further ones ever later, up to five seconds', async () => {
  const stage = setup()
  const delays: number[] = []
  for (let i = 0; i < 16; i++) {
    stage.replacements.lost(0)
    delays.push(await readyAfter(stage, 0))
  }
  expect(delays).toEqual([0, 0, 0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000, 5000, 5000])
})

test('places are counted apart, and a quiet one begins afresh', async () => {
  const stage = setup()
  for (let i = 0; i < 6; i++) stage.replacements.lost(0)
  expect(await readyAfter(stage, 1)).toBe(0)
  stage.clock.tick(10_001)
  stage.replacements.lost(0)
  expect(await readyAfter(stage, 0)).toBe(0)
})

test('closing ends every wait', async () => {
  const stage = setup()
  for (let i = 0; i < 9; i++) stage.replacements.lost(0)
  const waiting = stage.replacements.ready(0)
  stage.replacements.close()
  await waiting
})
