// Actors that hand values through a channel: in order, none lost, none twice, never more than its capacity; closing it
// lets receivers drain and then ends them.

import { Channel, ChannelClosed, receive, same, stopped } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

function run(sim: Simulation): void {
  const capacity = sim.oneOf([2, 1, 0, 5])
  const channel = new Channel<readonly [sender: number, n: number]>(capacity)
  const senders = sim.int(1, 2)
  const receivers = sim.int(1, 2)
  const received: (readonly [number, number])[] = []
  const accepted: number[] = [0, 0]
  const next: number[] = [0, 0]
  let ended = 0
  let cancelled = 0
  const perReceiver: (readonly [number, number])[][] = []
  const produce = (who: number) =>
    receive<number>(async (ctx, count) => {
      for (let left = count; left > 0; left--) {
        const n = next[who]!++
        if (sim.choose(3) === 1) await sim.delay()
        try {
          if (sim.choose(4) === 1) {
            if (channel.trySend([who, n])) accepted[who]!++
            await sim.delay(1)
          } else {
            await channel.send([who, n], { signal: ctx.signal })
            accepted[who]!++
          }
        } catch (cause) {
          if (cause instanceof ChannelClosed) return stopped
          cancelled++
          return stopped
        }
        sim.check(channel.size <= capacity, `a channel of ${capacity} holds ${channel.size}`)
      }
      return same
    })
  const consume = (own: (readonly [number, number])[]) =>
    receive<'go'>(async (ctx) => {
      for (;;) {
        if (sim.choose(3) === 1) await sim.delay()
        const taken = await channel.receive({ signal: ctx.signal }).catch(() => undefined)
        if (taken === undefined) {
          cancelled++
          return stopped
        }
        if (taken.done) break
        received.push(taken.value)
        own.push(taken.value)
      }
      ended++
      return same
    })
  const makers = Array.from({ length: senders }, (_, i) => sim.system.spawn(produce(i), { name: `sender${i}`, supervision: 'stop', stopTimeout: 20 }))
  for (let i = 0; i < receivers; i++) {
    perReceiver.push([])
    sim.system.spawn(consume(perReceiver[i]!), { name: `receiver${i}`, supervision: 'stop', stopTimeout: 20 }).tell('go')
  }
  sim.plan(sim.int(1, 4), () => makers[sim.choose(senders)]!.tell(sim.int(1, 6)))
  sim.after(sim.oneOf([900, 10, 60]), () => channel.close())
  sim.eventually('receivers end once the channel is closed', () => sim.faulted || ended === receivers)
  sim.eventually('what was taken in came out once', () => {
    const seen = new Set<string>()
    const once = received.length === accepted.reduce((a, b) => a + b, 0)
    for (const value of received) seen.add(value.join())
    return sim.faulted || cancelled > 0 || (once && seen.size === received.length)
  })
  sim.eventually(
    'each receiver sees each sender in order',
    () => sim.faulted || perReceiver.every((own) => [0, 1].every((who) => rises(own.filter(([s]) => s === who).map(([, n]) => n)))),
  )
}

function rises(numbers: readonly number[]): boolean {
  return numbers.every((n, i) => i === 0 || n > numbers[i - 1]!)
}

export const channels: LibraryScenario = { name: 'channels', about: 'values through a channel: in order, none lost, never above capacity', run }
