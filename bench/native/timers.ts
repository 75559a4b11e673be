// A million timers: armed, spread over a tenth of a second, and all of them delivered as messages. The floor is the
// host's own timer with a closure that tells a raw actor.

import { ActorSystem, receive, same } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

type Tick = { type: 'tick'; id: number }
const spread = 100

export async function timersOnTroupe(n: number): Promise<number> {
  const system = ActorSystem.create('timers')
  await new Promise<void>((resolve) => {
    let left = n
    const target = system.spawn(
      receive<Tick>(() => {
        if (--left === 0) resolve()
        return same
      }),
    )
    for (let id = 0; id < n; id++) system.sendAfter(target, 1 + (id % spread), { type: 'tick', id })
  })
  await system.shutdown()
  return n
}

export async function timersOnRaw(n: number): Promise<number> {
  const system = new RawSystem()
  await new Promise<void>((resolve) => {
    let left = n
    const target = new RawActor<Tick>(system, () => {
      if (--left === 0) resolve()
    })
    for (let id = 0; id < n; id++) setTimeout(() => target.tell({ type: 'tick', id }), 1 + (id % spread))
  })
  return n
}

/** Armed far ahead and cancelled, never fired: what an ask or a receive timeout does. */
export async function cancelledOnTroupe(n: number): Promise<number> {
  const system = ActorSystem.create('timers')
  const target = system.spawn(receive<Tick>(() => same))
  const cancels: (() => void)[] = []
  for (let id = 0; id < n; id++) cancels.push(system.sendAfter(target, 60_000 + (id % 10_000), { type: 'tick', id }))
  for (const cancel of cancels) cancel()
  await system.shutdown()
  return n
}

export async function cancelledOnRaw(n: number): Promise<number> {
  const system = new RawSystem()
  const target = new RawActor<Tick>(system, () => {})
  const timers: NodeJS.Timeout[] = []
  for (let id = 0; id < n; id++) timers.push(setTimeout(() => target.tell({ type: 'tick', id }), 60_000 + (id % 10_000)))
  for (const timer of timers) clearTimeout(timer)
  return n
}
