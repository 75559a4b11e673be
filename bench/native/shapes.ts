// What variety costs: 16 actors that pass messages round, once with one behavior and one shape of message, once with 16
// behaviors, each a function of its own, and messages of 16 shapes (other fields in another order, so that the engine
// sees 16 hidden classes). The engine's inline caches hold four; this is what a real program looks like.

import { ActorSystem, type Behavior, receive, same } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

interface Message {
  readonly left: number
  readonly kind: number
}
type Maker = (left: number) => Message
type Target = { tell(message: Message): void }

const hops = 1_000_000

const makers: readonly Maker[] = [
  (left) => ({ kind: 0, left, t0: true }),
  (left) => ({ left, a1: 0, kind: 1, t1: true }),
  (left) => ({ kind: 2, a2: 0, b2: 1, left, t2: true }),
  (left) => ({ left, a3: 0, b3: 1, c3: 2, kind: 3, t3: true }),
  (left) => ({ kind: 4, left, t4: true }),
  (left) => ({ left, a5: 0, kind: 5, t5: true }),
  (left) => ({ kind: 6, a6: 0, b6: 1, left, t6: true }),
  (left) => ({ left, a7: 0, b7: 1, c7: 2, kind: 7, t7: true }),
  (left) => ({ kind: 8, left, t8: true }),
  (left) => ({ left, a9: 0, kind: 9, t9: true }),
  (left) => ({ kind: 10, a10: 0, b10: 1, left, t10: true }),
  (left) => ({ left, a11: 0, b11: 1, c11: 2, kind: 11, t11: true }),
  (left) => ({ kind: 12, left, t12: true }),
  (left) => ({ left, a13: 0, kind: 13, t13: true }),
  (left) => ({ kind: 14, a14: 0, b14: 1, left, t14: true }),
  (left) => ({ left, a15: 0, b15: 1, c15: 2, kind: 15, t15: true }),
]
const ways = makers.length

/** One place of the ring: counts what it gets, and passes on a new message. */
class Station {
  next!: Target
  seen = 0
  readonly #make: Maker
  readonly #done: () => void
  constructor(make: Maker, done: () => void) {
    this.#make = make
    this.#done = done
  }
  take(m: Message): void {
    if (m.kind >= 0) this.seen++
    if (m.left > 0) this.next.tell(this.#make(m.left - 1))
    else this.#done()
  }
}

// Written out: each of these is code of its own to the engine.
const behaviors: readonly ((s: Station) => Behavior<Message>)[] = [
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
  (s) => receive<Message>((_ctx, m) => (s.take(m), same)),
]
const handlers: readonly ((s: Station) => (m: Message) => void)[] = [
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
  (s) => (m) => s.take(m),
]

async function run(spawn: (station: Station, kind: number) => Target, many: boolean): Promise<number> {
  const stations: Station[] = []
  await new Promise<void>((resolve) => {
    for (let i = 0; i < ways; i++) stations.push(new Station(makers[many ? i : 0]!, resolve))
    const members = stations.map((station, i) => spawn(station, many ? i : 0))
    for (const [i, station] of stations.entries()) station.next = members[(i + 1) % ways]!
    members[0]!.tell(makers[0]!(hops - 1))
  })
  const total = stations.reduce((sum, s) => sum + s.seen, 0)
  if (total !== hops) throw new Error(`shapes: expected ${hops}, got ${total}`)
  return hops
}

const onTroupe = (many: boolean) => async (): Promise<number> => {
  const system = ActorSystem.create('shapes')
  const done = await run((station, kind) => system.spawn(behaviors[kind]!(station)), many)
  await system.shutdown()
  return done
}

const onRaw = (many: boolean) => async (): Promise<number> => {
  const system = new RawSystem()
  return run((station, kind) => new RawActor<Message>(system, handlers[kind]!(station)), many)
}

/** By name: how many hops per second, per side. */
export const shapes: Readonly<Record<string, { readonly troupe: () => Promise<number>; readonly raw: () => Promise<number> }>> = {
  'one behavior, one shape': { troupe: onTroupe(false), raw: onRaw(false) },
  '16 behaviors × 16 shapes': { troupe: onTroupe(true), raw: onRaw(true) },
}
