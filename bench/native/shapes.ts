// What variety costs: 16 actors that pass messages round, once with one behavior and one shape of message, once with 16
// behaviors, each a function of its own, and messages of 16 shapes (different fields in a different order, so that the
// engine sees 16 hidden classes). The engine's inline caches hold four; this is what a real program looks like.

import { type ActorRef, ActorSystem, receive, same } from 'troupe'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

type Message = { readonly left: number; readonly kind: number }
type Target = { tell(message: Message): void }
type Handler = (message: Message) => void

const ways = 16
const hops = 1_000_000

/** A maker of messages with fields of its own: the source text differs, so neither code nor hidden class is shared. */
function maker(kind: number): (left: number) => Message {
  const fields = Array.from({ length: kind % 4 }, (_, i) => `f${kind}_${i}: ${i}`)
  const parts = kind % 2 === 0 ? ['kind: ' + String(kind), ...fields, 'left'] : ['left', ...fields, 'kind: ' + String(kind)]
  return new Function('left', `return { ${parts.join(', ')}, t${kind}: true }`) as (left: number) => Message
}

/** A handler with code of its own, that counts what it gets and passes on a new message. */
function handler(make: (left: number) => Message, seen: number[], index: number, next: () => Target, done: () => void): Handler {
  const build = new Function(
    'make, seen, index, next, done',
    `return (m) => { seen[index] += m.kind >= 0 ? 1 : 0; if (m.left > 0) next().tell(make(m.left - 1)); else done() } // ${index}`,
  ) as (...parts: unknown[]) => Handler
  return build(make, seen, index, next, done)
}

async function run(spawn: (handler: Handler) => Target, many: boolean): Promise<number> {
  const seen = new Array<number>(ways).fill(0)
  const members: Target[] = []
  const shared = maker(0)
  await new Promise<void>((resolve) => {
    const one = (m: Message, i: number): void => {
      seen[i]! += m.kind >= 0 ? 1 : 0
      if (m.left > 0) members[(i + 1) % ways]!.tell(shared(m.left - 1))
      else resolve()
    }
    for (let i = 0; i < ways; i++) {
      const next = (): Target => members[(i + 1) % ways]!
      members.push(spawn(many ? handler(maker(i), seen, i, next, resolve) : (m) => one(m, i)))
    }
    members[0]!.tell(shared(hops - 1))
  })
  const total = seen.reduce((a, b) => a + b, 0)
  if (total !== hops) throw new Error(`shapes: expected ${hops}, got ${total}`)
  return hops
}

const onTroupe = (many: boolean) => async (): Promise<number> => {
  const system = ActorSystem.create('shapes')
  const hopsDone = await run((handle): ActorRef<Message> => {
    // With one behavior all actors share the receive function's code; with many, each has its own.
    const behavior = many
      ? (new Function('receive, same, handle', 'return receive((ctx, m) => { handle(m); return same })') as (...parts: unknown[]) => ReturnType<typeof receive<Message>>)(receive, same, handle)
      : receive<Message>((_ctx, m) => {
          handle(m)
          return same
        })
    return system.spawn(behavior)
  }, many)
  await system.shutdown()
  return hopsDone
}

const onRaw = (many: boolean) => async (): Promise<number> => {
  const system = new RawSystem()
  return run((handle) => new RawActor<Message>(system, handle), many)
}

/** By name: how many hops per second, per side. */
export const shapes: Readonly<Record<string, { readonly troupe: () => Promise<number>; readonly raw: () => Promise<number> }>> = {
  'one behavior, one shape': { troupe: onTroupe(false), raw: onRaw(false) },
  '16 behaviors × 16 shapes': { troupe: onTroupe(true), raw: onRaw(true) },
}
