// Promises of the border that chance alone would hardly ever put to the test: each has its moment here, under many schedules.

import { type ActorRef, receive, type SpawnOptions, stopped, supervise } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

const times = { places: true, duration: 600, grace: 1000, maxSteps: 40_000, faults: 'none', seeds: 30 } as const
const onThread = (thread: number): SpawnOptions => ({ dispatcher: 'parallel', placement: { thread } })

test('what is told in the moment in which an actor on a thread comes up is handled after what waited for that', async () => {
  let told = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      const heard: number[] = []
      const actor = threads.define('actor', () => receive<number>((_ctx, n) => void heard.push(n)))
      const ref = sim.system.spawn(actor(), { dispatcher: 'parallel' })
      sim.system.events.listen((event) => {
        const { ref: changed, to } = event as { readonly ref: unknown; readonly to: string }
        if (changed !== ref || to !== 'running') return
        told++
        ref.tell(3)
      }, 'actor.phase')
      ref.tell(1)
      ref.tell(2)
      sim.eventually('all three are handled, in the order in which they were told', () => heard.join() === '1,2,3')
    },
    { ...times, name: 'told when it comes up' },
  )
  expect(told).toBe(times.seeds)
})

test('a question that its asker gave up while it waited on another thread is not handled there', async () => {
  let givenUp = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      let handled = 0
      type Message = { readonly type: 'work' } | { readonly type: 'get'; readonly replyTo: ActorRef<string> }
      const actor = threads.define('actor', () =>
        receive<Message>((_ctx, message) => {
          if (message.type === 'work') return new Promise<undefined>((resolve) => sim.after(300, () => resolve(undefined)))
          handled++
          message.replyTo.tell('late')
          return undefined
        }),
      )
      const ref = sim.system.spawn(actor(), { dispatcher: 'parallel' })
      ref.tell({ type: 'work' })
      const given = new AbortController()
      ref.ask({ type: 'get' }, { timeout: 5000, signal: given.signal }).catch(() => givenUp++)
      sim.after(150, () => given.abort())
      sim.eventually('nobody handles it', () => handled === 0 && givenUp > 0)
    },
    { ...times, name: 'a question given up' },
  )
  expect(givenUp).toBe(times.seeds)
})

test('a question that came before its actor did ends when that actor stops', async () => {
  let early = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 2, hangAfter: 1000, ringBytes: 16_384 })
      let ended: unknown
      type Asked = { readonly type: 'get'; readonly replyTo: ActorRef<string> } | { readonly type: 'stop' }
      const target = threads.define('target', () => receive<Asked>((_ctx, { type }) => (type === 'stop' ? stopped : undefined)))
      const asker = threads.define('asker', () =>
        receive<ActorRef<Asked>>((ctx, ref) => {
          ctx.ask(ref, { type: 'get' }, { timeout: 5000 }).catch((cause: { readonly code: string }) => {
            ended ??= `${cause.code} at ${sim.now}`
          })
        }),
      )
      const by = sim.system.spawn(asker(), onThread(1))
      sim.after(50, () => {
        const ref = sim.system.spawn(target(), onThread(0))
        by.tell(ref)
        sim.after(300, () => ref.tell({ type: 'stop' }))
      })
      let seen = false
      sim.always(() => {
        if (seen || (threads.exchangeOf(1)?.whereabouts.early ?? 0) === 0) return
        seen = true
        early++
      })
      sim.eventually('the question ends with its actor', () => /^ask-target-stopped at 3\d\d/.test(String(ended)))
    },
    { ...times, seeds: 100, name: 'an early question' },
  )
  expect(early).toBeGreaterThan(0)
})

test('an actor that was looked for once, and has moved on to yet another thread, is looked for again', async () => {
  let arrived = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 2, hangAfter: 1000, ringBytes: 16_384 })
      const heard: string[] = []
      const target = threads.define('target', () => receive<string>((_ctx, word) => void heard.push(word)))
      const teller = threads.define('teller', () =>
        receive<{ readonly to: ActorRef<string>; readonly word: string }>((_ctx, { to, word }) => to.tell(word)),
      )
      const supervision = supervise({ backoff: { min: 100, max: 100, factor: 1, jitter: 0 } })
      const ref = sim.system.spawn(target(), { ...onThread(0), supervision })
      const by = sim.system.spawn(teller(), onThread(1))
      const crash = (): void => threads.living.find((t) => t.started?.exchange.residents.hosted(ref.uid) !== undefined)?.crash()
      // Told where it is by its home, and not by the ref: that comes while it is between two threads.
      sim.after(50, crash)
      sim.after(80, () => by.tell({ to: ref, word: 'one' }))
      sim.after(350, crash)
      sim.after(380, () => by.tell({ to: ref, word: 'two' }))
      sim.eventually('both words arrive', () => {
        if (heard.join() === 'one,two') arrived++
        return heard.join() === 'one,two'
      })
    },
    { ...times, name: 'looked for again' },
  )
  expect(arrived).toBeGreaterThan(0)
})

test('what is told to an actor whose thread has forgotten that it ended is a dead letter', async () => {
  let buried = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 2, hangAfter: 1000, ringBytes: 16_384 })
      const target = threads.define('target', () => receive<string>(() => {}))
      const teller = threads.define('teller', () => {
        let to: ActorRef<string> | undefined
        return receive<ActorRef<string> | 'hello' | 'now'>((_ctx, message) => {
          if (message === 'now') to!.tell('too late')
          else if (message === 'hello') to!.tell('hello')
          else to = message
        })
      })
      const ref = sim.system.spawn(target(), onThread(0))
      const by = sim.system.spawn(teller(), onThread(1))
      // The connection between the two threads is open: the message goes over before the home of the actor says that it has stopped.
      const other = sim.system.spawn(target(), onThread(0))
      by.tell(other)
      by.tell('hello')
      // It learns where the actor is, and neither tells it anything nor asks to hear of its end.
      sim.after(100, () => by.tell(ref))
      sim.after(200, () => ref.stop())
      sim.after(300, () => {
        const { residents } = threads.exchangeOf(1)!
        for (let uid = -1; residents.ended(ref.uid) !== undefined; uid--) residents.remember({ ref: { uid }, end: undefined } as never)
        by.tell('now')
      })
      sim.eventually('it waits for nobody', () => {
        const { core, whereabouts } = threads.exchangeOf(1)!
        buried += core.ledger.deadLettered
        return core.ledger.deadLettered === 1 && whereabouts.early === 0
      })
    },
    { ...times, name: 'an end forgotten' },
  )
  expect(buried).toBe(times.seeds)
})

test('what did not fit goes when room is made for it in the moment in which its thread falls asleep', async () => {
  let asked = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 128 })
      type Asked = { readonly type: 'get'; readonly replyTo: ActorRef<string> }
      const askers: ActorRef<string>[] = []
      let answered = 0
      // All at once, and then nobody says anything that would wake a thread which sleeps on what it has to send.
      const target = sim.system.spawn(
        receive<Asked>((_ctx, { replyTo }) => {
          if (askers.push(replyTo) === 40) for (const [i, asker] of askers.entries()) asker.tell(`the answer to question ${i}`)
        }),
      )
      const asker = threads.define('asker', () =>
        receive<ActorRef<Asked>>((ctx, ref) => {
          for (let i = 0; i < 40; i++) void ctx.ask(ref, { type: 'get' }, { timeout: 5000 }).then(() => answered++)
        }),
      )
      const by = sim.system.spawn(asker(), onThread(0))
      sim.after(50, () => {
        asked++
        by.tell(target)
      })
      sim.eventually('all are answered', () => answered === 40)
    },
    { ...times, name: 'room for what waits' },
  )
  expect(asked).toBe(times.seeds)
})
