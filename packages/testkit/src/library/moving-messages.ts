// Messages that move: forwarded, adapted, redirected when their actor stops, cleared by a restart, handled reentrantly,
// refused by a schema. Each still ends exactly once.

import { type ActorRef, type AnyRef, type Behavior, type MessageSchema, receive, same, setup, stopped, unhandled } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Item = {
  readonly type: 'item' | 'wait' | 'fail' | 'end' | 'unknown' | 'pass' | 'adapt' | 'pipe' | 'bad'
  readonly n: number
  readonly from?: number
  readonly to?: number
}

const accepts: MessageSchema = {
  '~standard': {
    version: 1,
    vendor: 'sim',
    validate: (value: unknown) => ((value as Item).type === 'bad' ? { issues: [{ message: 'a bad item' }] } : { value }),
  },
}

function run(sim: Simulation): void {
  const refs: ActorRef<Item>[] = []
  const passed = new Map<unknown, number>()
  const last = new Map<string, number>()
  const adapters: ActorRef<number>[] = []
  const behavior = (i: number, plain: boolean): Behavior<Item> =>
    setup<Item>((ctx) => {
      const incarnation = ctx.incarnation
      let rounds = 0
      return receive<Item>(
        (c, m) => {
          sim.check(m !== undefined, 'a handler got undefined')
          if (plain && m.from !== undefined && m.to === i) {
            // Per sender and receiver, what arrives arrives in order.
            const pair = `${m.from}→${i}`
            sim.check((last.get(pair) ?? -1) < m.n, `${pair}: ${m.n} came after ${String(last.get(pair))}`)
            last.set(pair, m.n)
          }
          switch (m.type) {
            case 'item':
              return i % 2 === 0 ? same : undefined
            case 'bad':
              return same
            case 'wait': {
              const { sender } = c
              return sim.delay().then(() => {
                // Who sent it is known until the handler is over, also behind an await.
                if (!c.signal.aborted) sim.check(sim.faulted || c.sender === sender, 'the sender was forgotten during an await')
                return same
              })
            }
            case 'fail':
              throw new Error('at an item')
            case 'end':
              return stopped
            case 'unknown':
              return unhandled
            case 'pass':
              passed.set(m, (passed.get(m) ?? 0) + 1)
              if (passed.get(m)! < 4) c.forward(refs[(i + 1) % refs.length]!)
              return sim.choose(3) === 1 ? sim.delay().then(() => same) : same
            case 'adapt': {
              const keyed = sim.choose(2) === 1
              const round = keyed ? ++rounds : 0
              adapters.push(
                c.adapt<number>(
                  (n) => {
                    sim.check(!keyed || round === rounds, 'an adapter ran that was replaced')
                    if (n % 5 === 4) throw new Error('an adapter')
                    if (n % 7 === 6) return undefined as unknown as Item
                    sim.check(c.incarnation === incarnation, 'an adapter of an ended incarnation ran')
                    return { type: 'item', n }
                  },
                  keyed ? { key: 'k' } : {},
                ),
              )
              return same
            }
            case 'pipe': {
              const of = c.incarnation
              const arrived = (n: number): Item => {
                sim.check(c.incarnation === of, 'what was piped reached another incarnation')
                return { type: 'item', n }
              }
              c.pipeToSelf(
                sim.delay(),
                () => arrived(1),
                () => arrived(2),
              )
              return same
            }
          }
        },
        (c) => {
          sim.check(c.sender === undefined, 'a signal has the sender of a message')
          return same
        },
      )
    })
  const sink = sim.system.spawn(
    receive<Item>(() => same),
    { name: 'sink' },
  )
  const drains: readonly ('dead-letter' | 'drop' | { redirect: AnyRef })[] = ['dead-letter', 'drop', { redirect: sink }]
  const kinds = sim.int(2, 4)
  for (let i = 0; i < kinds; i++) {
    const reentrant = sim.choose(5) === 1
    refs.push(
      sim.system.spawn(behavior(i, !reentrant), {
        name: `b${i}`,
        reentrant,
        drain: i > 0 && sim.choose(4) === 3 ? { redirect: refs[i - 1]! } : sim.oneOf(drains),
        supervision: sim.oneOf(['restart', 'resume', 'stop']),
        onRestart: { mailbox: sim.oneOf(['keep', 'clear']) },
        stopTimeout: 30,
        ...(sim.choose(4) === 1 ? { accepts } : {}),
      }),
    )
  }
  // A sender that is an actor: what it sends in one turn and in the next keeps its order.
  let sequence = 0
  const sending = receive<number>((_c, to) => {
    const ref = refs[to]!
    for (let k = 0; k <= sim.choose(3); k++) ref.tell({ type: sim.oneOf(['item', 'wait', 'unknown', 'bad']), n: sequence++, from: 9, to })
    return same
  })
  const sender = sim.calmly(() => sim.system.spawn(sending, { name: 'sender' }))
  const types = ['item', 'wait', 'pass', 'fail', 'unknown', 'end', 'adapt', 'pipe', 'bad'] as const
  let n = 0
  let asked = 0
  let settled = 0
  sim.eventually('every question through an adapter is settled', () => asked === settled)
  sim.plan(sim.int(2, 22), () => {
    const to = sim.choose(refs.length)
    const ref = refs[to]!
    switch (sim.choose(8)) {
      case 1:
        return sender.tell(to)
      case 2:
        if (adapters.length === 0) return ref.tell({ type: 'adapt', n: n++ })
        if (sim.choose(4) === 1) {
          // A question through an adapter, which nobody answers: it ends with its time, or with its actor.
          adapters[sim.choose(adapters.length)]!.ask<string>(() => n++, { timeout: 20 }).catch((cause: Error) => {
            settled++
            sim.check(!cause.message.includes('is not a message'), `a question through an adapter was refused: ${cause.message}`)
          })
          asked++
          return undefined
        }
        return adapters[sim.choose(adapters.length)]!.tell(n++)
      case 3:
        if (sim.choose(2) === 0) return sim.system.restart(ref)
        if (sim.choose(2) === 0) return ref.stop()
        // One is enough, two do no harm.
        for (let k = sim.choose(3); k >= 0; k--) ref.stop({ after: 'queued' })
        return undefined
      case 4:
        return ref.tell(undefined as unknown as Item)
      default:
        return ref.tell({ type: sim.oneOf(types), n: n++ }, sim.choose(4) === 1 ? { sender: sink, headers: { n } } : undefined)
    }
  })
}

export const movingMessages: LibraryScenario = {
  name: 'moving messages',
  about: 'forwarded, adapted, redirected, cleared and refused messages end exactly once',
  run,
}
