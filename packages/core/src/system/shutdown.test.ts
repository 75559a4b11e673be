import { expect, test } from 'vitest'
import { type ActorRef, ActorSystem, ManualRuntime, receive, same } from '../index.ts'

test('a survivor is reported once, also when real time and the runtime reach the deadline one after the other', async () => {
  let now = 0
  let ending = false
  // The first pump finds the runtime's clock before the deadline, and takes so long that real time is past it.
  class Slow extends ManualRuntime {
    override pump(until?: () => boolean): boolean {
      const ran = super.pump(until)
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

test('a draining shutdown of actors that never run out of messages stops them in order when its share is over, also where the clock stands still', async () => {
  const system = ActorSystem.create('busy', { runtime: new ManualRuntime({ now: () => 0 }), keepAlive: false, logger: false })
  const restless = receive<'go'>((ctx) => {
    ctx.self.tell('go')
    return same
  })
  const pass: ActorRef<'go'>[] = []
  const other = (to: number) =>
    receive<'go'>(() => {
      pass[to]!.tell('go')
      return same
    })
  system.spawn(restless, { name: 'restless' }).tell('go')
  pass.push(system.spawn(other(1), { name: 'ping' }), system.spawn(other(0), { name: 'pong' }))
  pass[0]!.tell('go')
  const report = await system.shutdown({ drain: 20, deadline: 20_000 })
  expect(report).toMatchObject({ stopped: 3, killed: [] })
  const { queued, inProgress } = await system.ledger()
  expect([queued, inProgress]).toEqual([0, 0])
})

test('a shutdown on a clock that is moved by hand goes by that clock, also where the machine takes longer than the deadline for a step', async () => {
  let now = 0
  const runtime = new ManualRuntime({ now: () => now })
  const system = ActorSystem.create('starved', { runtime, keepAlive: false, logger: false })
  system
    .spawn(
      receive<string>(() => new Promise<void>(() => {})),
      { name: 'stuck', stopTimeout: 50 },
    )
    .tell('go')
  system.pump()
  const ending = system.shutdown({ deadline: 100 })
  for (now = 0; now <= 50; now += 25) {
    const begun = performance.now()
    while (performance.now() - begun < 150);
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await ending).toMatchObject({ stopped: 1, killed: [] })
})
