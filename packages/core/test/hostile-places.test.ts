// Hostile values where Troupe takes something of the user's: as senders and answer addresses, as signals, as what a child of
// a supervisor fails with; and a manual runtime that is pumped from inside.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  ActorSystem,
  bounded,
  CancellationToken,
  Channel,
  child,
  delay,
  eventsOf,
  type LedgerReport,
  priority,
  race,
  receive,
  retry,
  same,
  select,
  setup,
  supervisor,
  TaskGroup,
  timeout,
} from '@troupe/core'
import { escapedInTests, passes } from './escaped.ts'

const escaped = escapedInTests()

const bang = (): never => {
  throw new Error('bang')
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const values: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  'a symbol': Symbol('odd'),
  'a revoked proxy': revoked(),
  'an object without a prototype': Object.create(null),
  'a frozen object': Object.freeze({}),
  'a proxy that throws at everything': new Proxy({}, { get: bang, has: bang, getPrototypeOf: bang, ownKeys: bang }),
  'a type that throws': {
    get type() {
      return bang()
    },
  },
  'what throws as a text': { toString: bang, [Symbol.toPrimitive]: bang },
  'an error without a prototype': Object.setPrototypeOf(new Error('odd'), null),
  'a class with a symbol as its name': { constructor: { name: Symbol('name') } },
  'an error with a symbol as its message': Object.assign(new Error('odd'), { message: Symbol('message') }),
  'an error whose message throws as a text': Object.assign(new Error('odd'), { message: { toString: bang } }),
}

const sumOf = ({ sent: _sent, ...rest }: LedgerReport): number => Object.values(rest).reduce((sum, n) => sum + n, 0)

async function endsWell(kit: TestKit): Promise<void> {
  const before = await kit.system.ledger()
  expect({ ...before, sum: sumOf(before) }).toMatchObject({ sum: before.sent })
  const closing = kit.system.shutdown()
  await kit.advance(60_000)
  await closing
  await passes()
  expect(escaped).toEqual([])
  const after = await kit.system.ledger()
  expect({ ...after, sum: sumOf(after) }).toMatchObject({ sum: after.sent, queued: 0, inProgress: 0 })
}

describe('a message goes its way, whatever it comes with:', () => {
  for (const [name, value] of Object.entries(values))
    test(name, async () => {
      const kit = createTestKit()
      for (const mailbox of [undefined, priority(() => 0), bounded(3, 'drop-oldest')]) {
        let handled = 0
        const ref: ActorRef<string> = kit.system.spawn(
          receive<string>((ctx) => {
            void ctx.sender
            void ctx.headers
            handled++
            return same
          }),
          { mailbox },
        )
        ref.tell('with a sender', value as never)
        ref.tell('with options', { sender: value as never })
        ref.tell('with headers and a priority', { headers: value as never, priority: value as never })
        await kit.settle()
        expect(handled).toBe(3)
        const answering = receive<object>((ctx) => {
          ctx.reply('answer')
          return same
        })
        kit.system.spawn(answering, { mailbox, supervision: 'stop' }).tell({ replyTo: value })
        await kit.settle()
      }
      await endsWell(kit)
    })
})

describe('a supervisor copes with children that fail with, and requests that hold,', () => {
  for (const [name, value] of Object.entries(values))
    test(name, async () => {
      const kit = createTestKit({ onEscalation: 'stop' })
      let starts = 0
      const failing = receive<string>(() => {
        throw value
      })
      const unwilling = setup<string>(() => {
        if (starts++ > 0) throw value
        return receive<string>(() => same)
      })
      const ref = kit.system.spawn(supervisor({ strategy: 'rest-for-one', children: [child('a', failing), child('b', unwilling)] }), { name: 'top' })
      await kit.advance(100)
      const loose = ref as unknown as ActorRef<unknown>
      loose.tell(value)
      loose.tell({ type: 'start-child', child: value, replyTo: value })
      loose.tell({
        type: 'count',
        replyTo: {
          tell: async () => {
            throw value
          },
        },
      })
      ;(kit.system.find('/user/top/a') as unknown as ActorRef<string>).tell('fail')
      await kit.advance(10_000)
      await endsWell(kit)
    })
})

describe('whoever waits with a signal that is none is told so, settles, and leaves nothing behind:', () => {
  const fakes: Readonly<Record<string, unknown>> = {
    'one whose methods throw': { aborted: false, addEventListener: bang, removeEventListener: bang },
    'one that cannot be left': { aborted: false, addEventListener() {}, removeEventListener: bang },
    'one that calls back at once, twice': {
      aborted: false,
      get reason() {
        return bang()
      },
      addEventListener: (_type: string, listener: () => void) => {
        listener()
        listener()
      },
      removeEventListener: bang,
    },
    'one that cannot say whether it is aborted': {
      get aborted() {
        return bang()
      },
    },
    'one that cannot say why': {
      aborted: true,
      get reason() {
        return bang()
      },
    },
    null: null,
    'a number': 7,
    'an object': {},
    'a revoked proxy': revoked(),
  }
  for (const [name, fake] of Object.entries(fakes))
    test(name, async () => {
      const kit = createTestKit()
      const { clock, events } = kit.system
      const signal = fake as never
      const full = kit.system.spawn(
        receive<number>(() => new Promise(() => {})),
        { mailbox: bounded(1, 'block'), stopTimeout: 5 },
      )
      for (const n of [1, 2, 3]) full.tell(n)
      const one = new Channel<number>(1)
      const two = new Channel<number>(1)
      const sink = kit.system.spawn(receive<number>(() => same))
      const fails = (): Promise<never> => Promise.reject(new Error('of the work'))
      const waits: Readonly<Record<string, () => PromiseLike<unknown>>> = {
        delay: () => delay(5, { signal, clock }),
        timeout: () => timeout(Promise.resolve(1), 5, { signal, clock }),
        'timeout of what rejects': () => timeout(fails(), 5, { signal, clock }),
        'timeout of a function that rejects': () => timeout(fails, 5, { signal, clock }),
        retry: () => retry(fails, { signal, clock }),
        send: () => one.send(1, { signal }),
        receive: () => two.receive({ signal }),
        select: () => select([one, two] as never, { signal }),
        race: () => race([fails, () => Promise.resolve(1)], { signal }),
        offer: () => sink.offer(1, { signal }),
        'offer to a full mailbox': () => full.offer(4, { signal }),
        ask: () => sink.ask((replyTo) => replyTo as never, { signal, timeout: 5 }),
      }
      const pending = new Set(Object.keys(waits))
      for (const [what, wait] of Object.entries(waits)) {
        const settled = (): void => void pending.delete(what)
        // As a promise, whatever is wrong: none of these may throw at once.
        wait().then(settled, settled)
      }
      for (const make of [() => new TaskGroup({ signal }), () => new CancellationToken(signal), () => eventsOf(events, undefined, { signal })])
        try {
          make()
        } catch {}
      await kit.advance(50)
      one.close()
      two.close()
      full.stop()
      await kit.advance(1000)
      await passes()
      expect([...pending]).toEqual([])
      await endsWell(kit)
    })

  test('a promise that is handed to timeout together with a wrong time is observed', async () => {
    await expect(timeout(Promise.reject(new Error('of the work')), NaN)).rejects.toMatchObject({ code: 'invalid-option' })
    await passes()
    expect(escaped).toEqual([])
  })

  test('a token that could not be linked to all of its signals is linked to none', () => {
    const source = new AbortController()
    let listeners = 0
    const counting = {
      aborted: false,
      reason: undefined,
      addEventListener: () => void listeners++,
      removeEventListener: () => void listeners--,
    }
    expect(() => new CancellationToken(source.signal, counting as never, 7 as never)).toThrow('use an AbortSignal')
    expect(listeners).toBe(0)
  })
})

describe('a manual runtime that is pumped from inside', () => {
  type Inside = (system: ActorSystem, pump: () => void) => void
  const places: Readonly<Record<string, Inside>> = {
    'a handler': (system, pump) => {
      const ref = system.spawn(
        receive<number>((ctx, n) => {
          if (n < 3) ctx.self.tell(n + 1)
          pump()
          return same
        }),
      )
      ref.tell(0)
      ref.tell(0)
    },
    'a comparator': (system, pump) => {
      const compare = (): number => {
        pump()
        return 0
      }
      const ref = system.spawn(
        receive<number>(() => same),
        { mailbox: priority(compare) },
      )
      for (let n = 0; n < 9; n++) ref.tell(n)
    },
    'a listener': (system, pump) => {
      let calls = 0
      system.events.listen(() => {
        if (calls++ < 50) pump()
      })
      const ref = system.spawn(receive<number>(bang), { supervision: 'resume' })
      ref.tell(1)
      ref.tell(2)
    },
    'an adapter that then forwards': (system, pump) => {
      const other = system.spawn(receive<unknown>(() => same))
      const ref = system.spawn(
        receive<string>((ctx, m) => {
          const adapt = (inner: string): string => {
            pump()
            tryTo(() => ctx.forward(other))
            return inner
          }
          if (m === 'go') ctx.adapt<string>(adapt).tell('foreign')
          return same
        }),
      )
      ref.tell('go')
    },
    'a middleware that then forwards': (system, pump) => {
      const other = system.spawn(receive<unknown>(() => same))
      let ctx: ActorContext<string> | undefined
      const before = (m: unknown): unknown => {
        other.tell('meanwhile')
        pump()
        tryTo(() => ctx!.forward(other))
        return m
      }
      const behavior = setup<string>((c) => {
        ctx = c
        return receive<string>(() => same)
      })
      system.spawn(behavior, { middleware: [{ before }] }).tell('go')
    },
  }
  for (const [name, inside] of Object.entries(places))
    test(`${name}: each message is counted once`, async () => {
      const system = ActorSystem.create('manual', { runtime: 'manual', logger: false })
      inside(system, () => void system.pump())
      for (let i = 0; i < 20; i++) system.pump()
      const ledger = await system.ledger()
      expect({ ...ledger, sum: sumOf(ledger) }).toMatchObject({ sum: ledger.sent, queued: 0, inProgress: 0 })
      await system.shutdown({ deadline: 1000 })
      expect(escaped).toEqual([])
    })
})

function tryTo(act: () => void): void {
  try {
    act()
  } catch {}
}
