// The loads of `bench:ask`. Each returns how many questions were answered; the caller takes the time.
// The floor is a bare round trip: a promise whose resolver travels to a queue, drained in a microtask, with no timeout.

import { type ActorRef, ActorSystem, type DeadlockMode, receive, same } from '@troupe/core'

type Get = { type: 'get'; replyTo: ActorRef<number> }

interface Question {
  readonly type: 'get'
  readonly replyTo: (answer: number) => void
}

/** The least that can be called asking: no deadline, no failure, no address. */
class Bare {
  #queue: Question[] = []
  #scheduled = false
  #count = 0
  ask(): Promise<number> {
    return new Promise((resolve) => {
      this.#queue.push({ type: 'get', replyTo: resolve })
      if (this.#scheduled) return
      this.#scheduled = true
      queueMicrotask(this.#drain)
    })
  }
  readonly #drain = (): void => {
    const queue = this.#queue
    this.#queue = []
    this.#scheduled = false
    for (const question of queue) question.replyTo(++this.#count)
  }
}

const counter = () => {
  let count = 0
  return receive<Get>((_ctx, m) => {
    m.replyTo.tell(++count)
    return same
  })
}

async function withSystem(run: (system: ActorSystem) => Promise<number>, deadlock: DeadlockMode = 'reject'): Promise<number> {
  const system = ActorSystem.create('bench', { deadlock })
  const answered = await run(system)
  await system.shutdown()
  return answered
}

async function sequentially(ask: () => Promise<number>, times: number): Promise<number> {
  for (let i = 0; i < times; i++) await ask()
  return times
}

async function together(ask: () => Promise<number>, ways: number, times: number): Promise<number> {
  for (let i = 0; i < times; i++) {
    const answers: Promise<number>[] = []
    for (let w = 0; w < ways; w++) answers.push(ask())
    await Promise.all(answers)
  }
  return ways * times
}

/** A storm: chains of actors, each asking the next within its handler, so that every question has a chain behind it. */
async function storm(deadlock: DeadlockMode): Promise<number> {
  return withSystem(async (system) => {
    const leaf = system.spawn(counter())
    const middle = Array.from({ length: 100 }, () =>
      system.spawn(
        receive<Get>(async (ctx, m) => {
          m.replyTo.tell(await ctx.ask(leaf, { type: 'get' }))
          return same
        }),
      ),
    )
    const top = middle.map((next) =>
      system.spawn(
        receive<Get>(async (ctx, m) => {
          m.replyTo.tell(await ctx.ask(next, { type: 'get' }))
          return same
        }),
      ),
    )
    for (let i = 0; i < 500; i++) await Promise.all(top.map((ref) => ref.ask({ type: 'get' })))
    return 500 * 100 * 3
  }, deadlock)
}

const troupe = (run: (ask: () => Promise<number>) => Promise<number>) => () =>
  withSystem((system) => {
    const ref = system.spawn(counter())
    return run(() => ref.ask({ type: 'get' }))
  })
const bare = (run: (ask: () => Promise<number>) => Promise<number>) => () => {
  const target = new Bare()
  return run(() => target.ask())
}
const oneByOne = (ask: () => Promise<number>): Promise<number> => sequentially(ask, 200_000)
const thousandWays = (ask: () => Promise<number>): Promise<number> => together(ask, 1000, 300)

/** What is compared with what: ours first, the floor second. */
export const contests: Readonly<Record<string, Readonly<Record<string, () => Promise<number>>>>> = {
  sequential: { troupe: troupe(oneByOne), bare: bare(oneByOne) },
  '1,000 at once': { troupe: troupe(thousandWays), bare: bare(thousandWays) },
  'storm, detection': { on: () => storm('reject'), off: () => storm('off') },
}
