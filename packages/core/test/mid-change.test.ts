// User code that the runtime calls while it is about something: whatever it does there, each message is counted once, at
// that instant too, nothing escapes, and the system can be shut down.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  CircuitBreaker,
  consistentHash,
  entities,
  fsm,
  group,
  type LedgerReport,
  type Logger,
  mailboxOf,
  type MailboxQueue,
  type MessageSchema,
  pool,
  priority,
  receive,
  same,
  setup,
  supervise,
  unhandled,
} from '@troupe/core'
import { escapedInTests, passes } from './escaped.ts'

const escaped = escapedInTests()

type M = unknown

/** What a callback finds when it is called: the system, the actor it belongs to, that actor's context, another actor. */
interface Scene {
  readonly kit: TestKit
  self: ActorRef<M> | undefined
  ctx: ActorContext<M> | undefined
  readonly other: ActorRef<M>
  /** The message that the callback was called about, where there is one. */
  message: unknown
}

type Act = (scene: Scene) => unknown

const bomb = (): Error => new Error('bang')
const rejecting = async (): Promise<never> => {
  await Promise.resolve()
  throw bomb()
}
const thenable = (then: (ok: (v: unknown) => void, no: (c: unknown) => void) => void): object => having({}, 'then', then)
const having = (on: object, name: string, value: unknown): object => Object.defineProperty(on, name, { value })

/** What a callback does; what it returns is what the callback returns, where that is not `undefined`. */
const acts: Readonly<Record<string, Act>> = {
  'tells its own actor': (s) => s.self?.tell('extra'),
  'tells another': (s) => s.other.tell('extra'),
  forwards: (s) => s.ctx?.forward(s.other),
  'forwards, and catches': (s) => {
    try {
      s.ctx?.forward(s.other)
    } catch {}
  },
  'stashes the message': (s) => (s.message === undefined ? undefined : s.ctx?.stash.add(s.message)),
  'stashes another, and unstashes': (s) => {
    s.ctx?.stash.add('stashed')
    s.ctx?.stash.unstashAll()
  },
  'stops its own actor': (s) => s.ctx?.stop(),
  'stops it by its ref': (s) => s.self?.stop(),
  'kills its own actor': (s) => void (s.self === undefined || s.kit.system.kill(s.self)),
  'restarts its own actor': (s) => void (s.self === undefined || s.kit.system.restart(s.self)),
  'suspends and resumes it': (s) => {
    if (s.self === undefined) return
    s.kit.system.suspend(s.self, 'hostile')
    s.kit.system.resume(s.self)
  },
  throws: () => {
    throw bomb()
  },
  'throws nothing': () => {
    throw undefined
  },
  'throws a symbol': () => {
    throw Symbol('thrown')
  },
  'throws what cannot be read': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    throw proxy
  },
  'throws an error without a prototype': () => {
    throw Object.setPrototypeOf(bomb(), null)
  },
  'throws an error that cannot be named': () => {
    throw Object.defineProperties(bomb(), {
      name: { get: () => rethrow() },
      message: { get: () => rethrow() },
      stack: { get: () => rethrow() },
    })
  },
  spawns: (s) => void s.kit.system.spawn(receive(() => same)),
  'spawns a child': (s) => void s.ctx?.spawn(receive(() => same)),
  'asks another': (s) => void s.ctx?.ask(s.other, {} as never, { timeout: 10 }),
  'asks its own actor': (s) => void s.ctx?.ask(s.self as ActorRef<never>, {} as never, { timeout: 10 }),
  replies: (s) => s.ctx?.reply('answer'),
  'publishes an event': (s) => s.kit.system.events.publish({ type: 'noise' }),
  'makes a dead letter': (s) => s.kit.system.spawn(receive(() => same)).tell(undefined),
  'pipes a rejection': (s) =>
    s.ctx?.pipeToSelf(
      rejecting(),
      (v) => v,
      () => 'piped',
    ),
  'sets a timer and a receive timeout': (s) => {
    s.ctx?.timers.once('late', 5, 'tick')
    s.ctx?.setReceiveTimeout(3)
  },
  'is async and rejects': () => rejecting(),
  'returns a symbol': () => Symbol('rubbish'),
  'returns NaN': () => NaN,
  'returns null': () => null,
  'returns a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'returns what throws as a number and as a text': () => ({ [Symbol.toPrimitive]: () => rethrow(), toString: () => rethrow() }),
  'returns a thenable that calls back at once, twice': () =>
    thenable((ok, no) => {
      ok(undefined)
      no(bomb())
    }),
  'returns a thenable that throws': () => thenable(() => rethrow()),
  'returns a promise with a then of its own, which calls back at once': () =>
    having(Promise.resolve(), 'then', (ok: (v: unknown) => void) => ok(undefined)),
  'returns a promise without a constructor': () => Object.defineProperty(Promise.resolve(), 'constructor', { get: () => rethrow() }),
}

function rethrow(): never {
  throw bomb()
}

/** What a callback returns: what the act did, or what it would return otherwise. */
type Callback = <T>(usual: T, message?: unknown) => T

/** Where user code is called: sets the scene up so that the callback is called at least once. */
const places: Readonly<Record<string, (scene: Scene, call: Callback) => void>> = {
  'a comparator': (scene, call) => {
    const self = spawn(scene, plain(scene), { mailbox: priority<M>(() => call(0)) })
    for (let i = 0; i < 8; i++) self.tell(i)
  },
  'a comparator of a mailbox that drops': (scene, call) => {
    const self = spawn(scene, plain(scene), { mailbox: priority<M>(() => call(-1), { capacity: 3, overflow: 'drop-oldest' }) })
    for (let i = 0; i < 8; i++) self.tell(i)
  },
  'an adapter': (scene, call) => {
    const self = spawn(
      scene,
      receive<M>((ctx, m) => {
        scene.ctx = ctx
        if (m === 'go') ctx.adapt<M>((inner) => call(inner, inner)).tell({ type: 'foreign', replyTo: scene.other })
        return same
      }),
    )
    self.tell('go')
  },
  'a mapper of pipeToSelf': (scene, call) => {
    const self = spawn(
      scene,
      receive<M>((ctx, m) => {
        scene.ctx = ctx
        if (m === 'go') {
          ctx.pipeToSelf(Promise.resolve(1), (v) => call(v, v), String)
          ctx.pipeToSelf(Promise.reject(bomb()), String, (v) => call('failed', v))
        }
        return same
      }),
    )
    self.tell('go')
  },
  'a schema': (scene, call) => {
    const validate = (value: unknown): never => call({ value }, value) as never
    const accepts: MessageSchema = { '~standard': { version: 1, vendor: 'test', validate } }
    spawn(scene, plain(scene), { accepts }).tell({ replyTo: scene.other })
  },
  'before of a middleware': (scene, call) => {
    spawn(scene, plain(scene), { middleware: [{}, { before: (m) => call(m, m) }, {}] }).tell({ replyTo: scene.other })
  },
  'before of a middleware of a reentrant actor': (scene, call) => {
    spawn(scene, plain(scene), { reentrant: true, middleware: [{ before: (m) => call(m, m) }] }).tell({ replyTo: scene.other })
  },
  'after of a middleware': (scene, call) => {
    spawn(scene, plain(scene), { middleware: [{ after: (m) => call(undefined, m) }] }).tell({ replyTo: scene.other })
  },
  'error of a middleware': (scene, call) => {
    spawn(scene, failing(scene), { middleware: [{ error: (_c, m) => call(undefined, m) }] }).tell({ replyTo: scene.other })
  },
  'close of a middleware': (scene, call) => {
    const self = spawn(scene, plain(scene), { middleware: [{ close: () => call(undefined) }] })
    self.tell('go')
    self.stop({ after: 'queued' })
  },
  'a handler': (scene, call) => {
    const self = spawn(
      scene,
      receive<M>((ctx, m) => {
        scene.ctx = ctx
        scene.message = m
        return m === 'go' ? call(same, m) : same
      }),
    )
    self.tell('go')
  },
  'a reentrant handler': (scene, call) => {
    const self = spawn(
      scene,
      receive<M>((ctx, m) => {
        scene.ctx = ctx
        return m === 'go' ? call(same, m) : same
      }),
      { reentrant: true },
    )
    self.tell('go')
  },
  setup: (scene, call) => {
    let first = true
    const self = spawn(
      scene,
      setup<M>((ctx) => {
        scene.ctx = ctx
        if (!first) return plain(scene)
        first = false
        return call(plain(scene))
      }),
    )
    self.tell('go')
  },
  'a signal handler': (scene, call) => {
    let calls = 0
    spawn(
      scene,
      receive<M>(
        () => same,
        (ctx) => {
          scene.ctx = ctx
          return ++calls > 20 ? same : call(same)
        },
      ),
    ).tell('go')
  },
  'decide of a policy': (scene, call) => {
    spawn(scene, failing(scene), { supervision: supervise({ decide: () => call('restart' as const) }) }).tell('go')
  },
  'a listener': (scene, call) => {
    scene.kit.system.events.listen(() => call(undefined))
    spawn(scene, failing(scene)).tell('go')
  },
  'a predicate of a subscription': (scene, call) => {
    scene.kit.system.events.subscribe(scene.other, () => call(true))
    spawn(scene, failing(scene)).tell('go')
  },
  'a storage of one’s own': (scene, call) => {
    spawn(scene, plain(scene), { mailbox: mailboxOf('own', () => new Own(call), { capacity: 4, overflow: 'drop-oldest' }) })
    for (let i = 0; i < 8; i++) scene.self!.tell(i)
  },
  'a mailbox of one’s own': (scene, call) => {
    spawn(scene, plain(scene), { mailbox: mailboxOf({ kind: 'own', create: () => new Own(call) }) })
    for (let i = 0; i < 8; i++) scene.self!.tell(i)
  },
  'an answer address': (scene, call) => {
    const replyTo = { tell: (m: unknown) => call(undefined, m) }
    spawn(
      scene,
      receive<M>((ctx) => {
        scene.ctx = ctx
        ctx.reply('answer')
        return same
      }),
    ).tell({ replyTo })
  },
  'the target of a timer': (scene, call) => {
    scene.kit.system.sendAfter({ tell: (m: unknown) => call(undefined, m) } as never, 1, 'late' as never)
    spawn(scene, plain(scene))
  },
  'a key function of a router': (scene, call) => {
    spawn(
      scene,
      pool<M>(
        receive<M>(() => same),
        { size: 2, strategy: consistentHash<M>(() => call('key')) },
      ),
    ).tell('go')
  },
  'a routing strategy': (scene, call) => {
    const strategy = { mode: 'one', kind: 'own', create: () => () => call(0) } as const
    spawn(scene, group<M>([scene.other], { strategy })).tell('go')
  },
  'keyOf of entities': (scene, call) => {
    const keeper = entities<M>({ keyOf: () => call('key'), create: () => receive(() => same), idle: 10 })
    ;(scene.self = scene.kit.system.spawn(keeper)).tell('go')
  },
  'create of entities': (scene, call) => {
    const keeper = entities<M>({ keyOf: () => 'key', create: () => call(receive<M>(() => same)), idle: 10 })
    ;(scene.self = scene.kit.system.spawn(keeper)).tell('go')
  },
  'callbacks of a machine': (scene, call) => {
    const machine = fsm<{ a: number; b: number }, M>({
      initial: ['a', 1],
      states: {
        a: {
          on: (at, m) => {
            scene.ctx = at.ctx
            return call(at.to('b', 1), m)
          },
          exit: () => call(undefined),
        },
        b: { enter: () => call(undefined), on: () => undefined, timeout: { after: 2, decide: (at) => call(at.to('a', 1)) } },
      },
    })
    spawn(scene, machine).tell('go')
  },
  'onChange and isFailure of a breaker': (scene, call) => {
    const breaker = new CircuitBreaker(scene.kit.system, { maxFailures: 1, onChange: () => call(undefined), isFailure: () => call(true) })
    breaker.call(() => Promise.reject(bomb())).catch(() => {})
    spawn(scene, plain(scene)).tell('go')
  },
  'a factory of a question': (scene, call) => {
    spawn(
      scene,
      receive<M>((ctx, m) => {
        scene.ctx = ctx
        if (m === 'go') void ctx.ask(scene.other, (replyTo) => call({ replyTo }), { timeout: 10 })
        return same
      }),
    ).tell('go')
  },
}

class Own implements MailboxQueue {
  meta: unknown = undefined
  readonly #call: Callback
  readonly #items: [unknown, unknown][] = []
  #calls = 0
  constructor(call: Callback) {
    this.#call = call
  }
  get size(): number {
    return this.#items.length
  }
  push(message: unknown, meta: unknown): void {
    this.#items.push([message, meta])
    return ++this.#calls < 20 ? this.#call(undefined, message) : undefined
  }
  shift(): unknown {
    const [message, meta] = this.#items.shift() ?? []
    this.meta = meta
    return message === undefined || ++this.#calls > 20 ? message : this.#call(message, message)
  }
}

const plain = (scene: Scene): Behavior<M> =>
  receive<M>((ctx) => {
    scene.ctx ??= ctx
    return same
  })
const failing = (scene: Scene): Behavior<M> =>
  receive<M>((ctx, m) => {
    scene.ctx = ctx
    if (m === 'extra') return unhandled
    throw bomb()
  })

function spawn(scene: Scene, behavior: Behavior<never>, options: Parameters<TestKit['system']['spawn']>[1] = {}): ActorRef<M> {
  // Known before the first message: what is called in between has no context of its own.
  const known = setup<M>((ctx) => {
    scene.ctx = ctx
    return behavior as Behavior<M>
  })
  scene.self = scene.kit.system.spawn(known, { name: 'it', ...options })
  return scene.self
}

const ended = ['handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'queued', 'stashed', 'inProgress', 'unknown'] as const
const sumOf = (ledger: LedgerReport): number => ended.reduce((sum, key) => sum + ledger[key], 0)

describe('whatever user code does where it is called, the ledger holds and nothing escapes:', () => {
  for (const [place, arrange] of Object.entries(places))
    describe(place, () => {
      for (const [name, act] of Object.entries(acts))
        test(name, async () => {
          const quiet = (): void => {}
          const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
          const kit = createTestKit({ logger })
          const ledgers: Promise<LedgerReport>[] = []
          let calls = 0
          const scene: Scene = {
            kit,
            self: undefined,
            ctx: undefined,
            other: kit.system.spawn(
              receive<M>((ctx, m) => {
                if (typeof m === 'object' && m !== null && 'replyTo' in m) ctx.reply('answered')
                return same
              }),
            ),
            message: undefined,
          }
          const call: Callback = (usual, message) => {
            // Bounded: one that tells its own actor whenever it is called would go on for ever.
            if (++calls > 25) return usual
            ledgers.push(kit.system.ledger())
            scene.message = message
            const returned = act(scene)
            ledgers.push(kit.system.ledger())
            return returned === undefined ? usual : (returned as typeof usual)
          }
          arrange(scene, call)
          await kit.advance(2000)
          await passes()
          await kit.advance(20_000)
          expect(calls).toBeGreaterThan(0)
          for (const ledger of await Promise.all(ledgers)) expect({ ...ledger, sum: sumOf(ledger) }).toMatchObject({ sum: ledger.sent })
          const closing = kit.system.shutdown()
          await kit.advance(60_000)
          await closing
          const ledger = await kit.system.ledger()
          expect(ledger).toMatchObject({ queued: 0, stashed: 0, inProgress: 0 })
          expect({ ...ledger, sum: sumOf(ledger) }).toMatchObject({ sum: ledger.sent })
          await passes()
          expect(escaped).toEqual([])
        })
    })
})
