// Effect 4: an actor is a fiber that takes from its queue for ever, which is how its documentation writes workers.

import { Deferred, Effect, Fiber, Queue } from 'effect'
import { answer, bytesEach, dice, expectEqual } from './protocol.mjs'

/** Forks an actor: a queue and the fiber that handles what is in it. */
const actor = (handler) =>
  Effect.gen(function* () {
    const queue = yield* Queue.unbounded()
    const fiber = yield* Effect.forkDetach(Effect.forever(Effect.flatMap(Queue.take(queue), handler)))
    return { queue, fiber }
  })

const ring = (size, hops) => () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const done = yield* Deferred.make()
      const members = []
      for (let i = 0; i < size; i++)
        members.push(
          yield* actor((m) =>
            m.left > 0 ? Queue.offer(members[(i + 1) % size].queue, { type: 'ball', left: m.left - 1 }) : Deferred.succeed(done, undefined),
          ),
        )
      yield* Queue.offer(members[0].queue, { type: 'ball', left: hops })
      yield* Deferred.await(done)
      for (const member of members) yield* Fiber.interrupt(member.fiber)
      return hops
    }),
  )

const echo = actor((m) => Deferred.succeed(m.replyTo, m.value))

const ask = (target) =>
  Effect.gen(function* () {
    const replyTo = yield* Deferred.make()
    yield* Queue.offer(target.queue, { type: 'echo', value: 1, replyTo })
    return yield* Effect.timeout(Deferred.await(replyTo), '5 seconds')
  })

await answer({
  'ping-pong': ring(2, 100_000),
  'thread ring': ring(100, 100_000),
  counting: () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const n = 200_000
        let sum = 0
        const done = yield* Deferred.make()
        const counter = yield* actor((m) => {
          if (m.type === 'read') return Deferred.succeed(done, sum)
          sum += m.by
          return Effect.void
        })
        for (let i = 0; i < n; i++) yield* Queue.offer(counter.queue, { type: 'add', by: 1 })
        yield* Queue.offer(counter.queue, { type: 'read' })
        expectEqual(yield* Deferred.await(done), n, 'counting')
        yield* Fiber.interrupt(counter.fiber)
        return n
      }),
    ),
  'fork-join create': () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const n = 200_000
        let done = 0
        const all = yield* Deferred.make()
        for (let i = 0; i < n; i++) {
          const queue = yield* Queue.unbounded()
          yield* Effect.forkDetach(
            Effect.flatMap(Queue.take(queue), (m) => (Math.sin(m.n) < 2 && ++done === n ? Deferred.succeed(all, undefined) : Effect.void)),
          )
          yield* Queue.offer(queue, { type: 'work', n: i })
        }
        yield* Deferred.await(all)
        return n
      }),
    ),
  big: () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const size = 120
        const pings = 200
        let done = 0
        const all = yield* Deferred.make()
        const members = []
        for (let i = 0; i < size; i++) {
          const roll = dice(i + 1)
          let left = pings
          members.push(
            yield* actor((m) => {
              if (m.type === 'ping') return Queue.offer(members[m.from].queue, { type: 'pong' })
              if (left-- > 0) return Queue.offer(members[roll(size)].queue, { type: 'ping', from: i })
              return ++done === size ? Deferred.succeed(all, undefined) : Effect.void
            }),
          )
        }
        for (const member of members) yield* Queue.offer(member.queue, { type: 'pong' })
        yield* Deferred.await(all)
        for (const member of members) yield* Fiber.interrupt(member.fiber)
        return size * pings * 2
      }),
    ),
  'ask sequential': () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const n = 20_000
        const target = yield* echo
        let sum = 0
        for (let i = 0; i < n; i++) sum += yield* ask(target)
        expectEqual(sum, n, 'ask')
        yield* Fiber.interrupt(target.fiber)
        return n
      }),
    ),
  'ask concurrent': () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const n = 20_000
        const target = yield* echo
        for (let i = 0; i < n; i += 1_000)
          yield* Effect.all(
            Array.from({ length: 1_000 }, () => ask(target)),
            { concurrency: 'unbounded' },
          )
        yield* Fiber.interrupt(target.fiber)
        return n
      }),
    ),
  idle: () =>
    bytesEach(100_000, (n) =>
      Effect.runPromise(
        Effect.gen(function* () {
          let greeted = 0
          const all = yield* Deferred.make()
          const actors = new Map()
          for (let i = 0; i < n; i++) {
            const one = yield* actor(() => (++greeted === n ? Deferred.succeed(all, undefined) : Effect.void))
            actors.set(`a${i}`, one)
            yield* Queue.offer(one.queue, { type: 'hello', id: i })
          }
          yield* Deferred.await(all)
          return actors
        }),
      ),
    ),
})
