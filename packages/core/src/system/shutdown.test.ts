import { expect, test } from 'vitest'
import { ActorSystem, ManualRuntime, receive } from '../index.ts'

test('a survivor is reported once, also when real time and the runtime reach the deadline one after the other', async () => {
  let now = 0
  let ending = false
  // The first pump finds the runtime's clock before the deadline, and takes so long that real time is past it.
  class Slow extends ManualRuntime {
    override pump(): boolean {
      const ran = super.pump()
      if (!ending || now > 0) return ran
      const begun = performance.now()
      while (performance.now() - begun < 5);
      now = 1_000
      return ran
    }
  }
  const system = ActorSystem.create('slow', { runtime: new Slow({ now: () => now }), keepAlive: false })
  const stuck = receive<string>(() => new Promise<void>(() => {}))
  system.spawn(stuck, { name: 'stuck' }).tell('go')
  system.pump()
  ending = true
  const report = await system.shutdown({ deadline: 2 })
  expect(report.killed).toEqual(['/user/stuck'])
})
