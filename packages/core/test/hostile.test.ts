// Hostile values: getters and proxies that throw, thenables that lie, messages of odd kinds, requests without an address.
// One actor may fail of them; none may get stuck, and nobody else may notice.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type Behavior, receive, same, setup, supervise } from '@troupe/core'

const bomb = (): Error => new Error('bang')
const throwing = (key: string): object =>
  Object.defineProperty({}, key, {
    get: () => {
      throw bomb()
    },
  })
const throwingThen = (): object => throwing('then')
const throwingType = (): object => throwing('type')
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const noPrototype = (): object =>
  new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw bomb()
      },
    },
  )
const hostile = {
  'a proxy without a prototype to ask for': noPrototype,
  'a then getter that throws': throwingThen,
  'a type getter that throws': throwingType,
  'a revoked proxy': revoked,
}

describe('what user code returns or throws', () => {
  for (const [name, make] of Object.entries(hostile)) {
    const acts: Record<string, () => Behavior<unknown>> = {
      'returned by a handler': () => receive((_c, m) => (m === 'go' ? (make() as never) : same)),
      'thrown by a handler': () =>
        receive((_c, m) => {
          if (m === 'go') throw make()
          return same
        }),
      'resolved by a handler': () =>
        receive((_c, m) =>
          m === 'go'
            ? (Promise.resolve()
                .then(() => [make()])
                .then((x) => {
                  throw x[0]
                }) as never)
            : same,
        ),
      'the result of an async handler': () => receive((_c, m) => (m === 'go' ? (Promise.resolve(make()) as never) : same)),
      'returned by setup, once': () => {
        let n = 0
        return setup(() => (n++ === 0 ? (make() as never) : receive(() => same)))
      },
      'returned by PreStart, once': () => {
        let n = 0
        return receive(
          (): never => same as never,
          (_c, s) => (s.type === 'PreStart' && n++ === 0 ? (make() as never) : same),
        )
      },
      'returned by PreRestart': () =>
        receive(
          (_c, m) => {
            if (m === 'go') throw bomb()
            return same
          },
          (_c, s) => (s.type === 'PreRestart' ? (make() as never) : same),
        ),
      'thrown by PreRestart': () =>
        receive(
          (_c, m) => {
            if (m === 'go') throw bomb()
            return same
          },
          (_c, s) => {
            if (s.type === 'PreRestart') throw make()
            return same
          },
        ),
      'returned by ChildStopped': () => {
        let n = 0
        return receive(
          (c, m) => {
            if (m === 'go') c.spawn(receive(() => same)).stop()
            return same
          },
          (_c, s) => (s.type === 'ChildStopped' && n++ === 0 ? (make() as never) : same),
        )
      },
      'sent, and the handler throws': () =>
        receive((c, m) => {
          if (m === 'go') c.self.tell(make())
          else if (typeof m === 'object') throw bomb()
          return same
        }),
      'sent, and the handler is async': () =>
        receive(async (c, m) => {
          if (m === 'go') c.self.tell(make())
          return same
        }),
      'sent, and unhandled': () =>
        receive((c, m) => {
          if (m === 'go') c.self.tell(make())
          return same
        }),
    }
    for (const [act, behavior] of Object.entries(acts))
      test(`${name}, ${act}, leaves an actor that answers`, async () => {
        const kit = createTestKit()
        const ref: ActorRef<unknown> = kit.system.spawn(behavior(), {
          name: 'it',
          supervision: supervise({ retryStart: true, limit: { restarts: 10, within: 1000 } }),
        })
        ref.tell('go')
        await kit.advance(5000)
        ref.tell('again')
        await kit.advance(5000)
        expect(kit.system.phaseOf(ref)).toBe('running')
        ref.stop()
        await kit.advance(20_000)
        expect(kit.system.phaseOf(ref)).toBe('terminated')
        await kit.end()
      })
  }
})

test('an actor whose turn broke fails of it and goes on, its message counted once', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<string>(async (_ctx, m) => {
      if (m === 'go') return noPrototype() as never
      return same
    }),
    { name: 'it' },
  )
  ref.tell('go')
  ref.tell('after')
  await kit.advance(1000)
  expect(await kit.checkLedger()).toMatchObject({ sent: 2, failed: 1, handled: 1 })
  kit.expectLog('a turn broke')
  await kit.end()
})
