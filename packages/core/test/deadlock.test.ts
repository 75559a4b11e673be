// Which waits are deadlocks, and which only look like one.
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import {
  Actor,
  type ActorContext,
  type ActorHandle,
  type ActorRef,
  type Behavior,
  DeadlockError,
  delay,
  type DeadlockMode,
  receive,
  same,
  setup,
  type SpawnOptions,
} from '@troupe/core'

type Do = { type: 'do'; replyTo: ActorRef<unknown> }
type Script = (ctx: ActorContext<Do>, m: Do) => unknown

/** Actors by name whose scripts may look each other up; a script answers what it returns, unless that is undefined. */
const cast = (kit: TestKit, scripts: Record<string, Script>, options: Record<string, SpawnOptions> = {}): Record<string, ActorRef<Do>> => {
  const refs: Record<string, ActorRef<Do>> = {}
  for (const [name, script] of Object.entries(scripts)) {
    const behavior: Behavior<Do> = receive(async (ctx, m) => {
      const answer = await script(ctx, m)
      if (answer !== undefined) m.replyTo.tell(answer)
      return same
    })
    refs[name] = kit.system.spawn(behavior, { name, supervision: 'resume', ...options[name] })
  }
  return refs
}
const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((e: unknown) => e)
const settled = async (kit: TestKit, promise: Promise<unknown>): Promise<unknown> => {
  const outcome = outcomeOf(promise)
  await kit.settle()
  return Promise.race([outcome, Promise.resolve('pending')])
}
const go = { type: 'do' } as const

test('41. asking oneself in a handler rejects at once with the cycle named', async () => {
  const kit = createTestKit()
  const { a } = cast(kit, { a: (ctx) => ctx.ask(ctx.self, go) })
  const error = await settled(kit, a!.ask(go))
  expect(error).toBeInstanceOf(DeadlockError)
  expect(error).toMatchObject({ code: 'deadlock', cycle: ['/user/a', '/user/a'] })
  expect((error as Error).message).toContain('/user/a → /user/a')
  await kit.end()
})

test.each([2, 3, 10])('41. a cycle of %i rejects the closing ask at once', async (n) => {
  const kit = createTestKit()
  const names = Array.from({ length: n }, (_, i) => `n${i}`)
  const refs = cast(kit, Object.fromEntries(names.map((name, i) => [name, (ctx) => ctx.ask(refs[names[(i + 1) % n]!]!, go)])))
  const error = await settled(kit, refs['n0']!.ask(go))
  // The last one closes the cycle; its failure travels back along the asks.
  const cycle = [...names.slice(-1), ...names].map((x) => `/user/${x}`)
  expect(error).toMatchObject({ code: 'deadlock', cycle })
  await kit.end()
})

test('an ask in the synchronous part of a handler counts once the handler waits, also without ctx', async () => {
  const kit = createTestKit()
  const refs: Record<string, ActorRef<Do>> = cast(kit, { a: () => refs['b']!.ask(go), b: () => refs['a']!.ask(go) })
  expect(await settled(kit, refs['a']!.ask(go))).toMatchObject({ cycle: ['/user/b', '/user/a', '/user/b'] })
  expect(await kit.checkLedger()).toMatchObject({ queued: 0, inProgress: 0 })
  await kit.end()
})

test('an ask after an await counts when it goes through ctx', async () => {
  const kit = createTestKit()
  const late =
    (to: () => ActorRef<Do>): Script =>
    async (ctx) => {
      await Promise.resolve()
      return ctx.ask(to(), go)
    }
  const refs: Record<string, ActorRef<Do>> = cast(kit, { a: late(() => refs['b']!), b: late(() => refs['a']!) })
  expect(await settled(kit, refs['a']!.ask(go))).toMatchObject({ cycle: ['/user/b', '/user/a', '/user/b'] })
  await kit.end()
})

test.each([1, 2, 3])('41. a cycle of %i class actors is seen, through their handles too, unless one is reentrant', async (n) => {
  const kit = createTestKit()
  let left = Infinity
  class Node extends Actor {
    #next: ActorHandle<Node> | undefined
    link(next: ActorHandle<Node>): void {
      this.#next = next
    }
    async go(): Promise<string> {
      return left-- === 0 ? 'home' : `${await this.#next!.ask.go()}!`
    }
  }
  const ring = (names: readonly string[], reentrant: boolean): ActorHandle<Node>[] => {
    const nodes = names.map((name, i) => kit.system.spawn(Node, { name, supervision: 'resume', reentrant: reentrant && i === 0 }))
    nodes.forEach((node, i) => node.tell.link(nodes[(i + 1) % n]!))
    return nodes
  }
  const names = ['x', 'y', 'z'].slice(0, n)
  const cycle = [...names.slice(-1), ...names].map((name) => `/user/${name}`)
  expect(await settled(kit, ring(names, false)[0]!.ask.go())).toMatchObject({ code: 'deadlock', cycle })
  left = n
  const [first] = ring(
    names.map((name) => `re${name}`),
    true,
  )
  expect(await settled(kit, first!.ask.go())).toBe(`home${'!'.repeat(n)}`)
  await kit.end()
})

test('41. a reentrant actor in the cycle breaks it', async () => {
  const kit = createTestKit()
  let calls = 0
  const refs: Record<string, ActorRef<Do>> = cast(
    kit,
    { a: (ctx) => (++calls > 1 ? 'a again' : ctx.ask(refs['b']!, go)), b: (ctx) => ctx.ask(refs['a']!, go) },
    { a: { reentrant: true } },
  )
  expect(await settled(kit, refs['a']!.ask(go))).toBe('a again')
  await kit.end()
})

test('not a deadlock: A asks B, B forwards to C, B asks A', async () => {
  const kit = createTestKit()
  let first = true
  const refs: Record<string, ActorRef<Do>> = cast(kit, {
    a: (ctx) => (first ? ((first = false), ctx.ask(refs['b']!, go)) : 'a is free'),
    b: async (ctx) => {
      ctx.forward(refs['c']!)
      heard.push(await ctx.ask(refs['a']!, go))
    },
    c: () => 'from c',
  })
  const heard: unknown[] = []
  expect(await settled(kit, refs['a']!.ask(go))).toBe('from c')
  await kit.settle()
  expect(heard).toEqual(['a is free'])
  await kit.end()
})

test('a deadlock: A asks B, B forwards to C, which waits for A', async () => {
  const kit = createTestKit()
  const refs: Record<string, ActorRef<Do>> = cast(kit, {
    a: (ctx) => ctx.ask(refs['b']!, go),
    b: (ctx) => ctx.forward(refs['c']!),
    c: (ctx) => ctx.ask(refs['a']!, go),
  })
  kit.system.suspend(refs['b']!, 'until c waits')
  const fromA = outcomeOf(refs['a']!.ask(go))
  const fromC = outcomeOf(refs['c']!.ask(go))
  await kit.settle()
  kit.system.resume(refs['b']!)
  await kit.settle()
  expect(await fromA).toMatchObject({ cycle: ['/user/a', '/user/c', '/user/a'] })
  void fromC
  await kit.end()
})

test('not a deadlock: a handler that ended without a reply holds nobody', async () => {
  const kit = createTestKit()
  let later: ActorRef<unknown> | undefined
  let turn = 0
  const refs: Record<string, ActorRef<Do>> = cast(kit, {
    a: (ctx) => (++turn === 1 ? ctx.ask(refs['b']!, go) : 'never'),
    // First keeps the question for later; then waits for A, which waits for nothing that B is handling.
    b: (ctx, m) => {
      if (later === undefined) return void (later = m.replyTo)
      kit.system.clock.after(
        10,
        () => later!.tell('answered later'),
        () => {},
      )
      return ctx.ask(refs['a']!, go)
    },
  })
  const fromA = outcomeOf(refs['a']!.ask(go))
  await kit.settle()
  const fromB = outcomeOf(refs['b']!.ask(go))
  await kit.advance(10)
  expect(await fromA).toBe('answered later')
  expect(await fromB).toBe('never')
  await kit.end()
})

test('not a deadlock: a handler that does not wait for what it asked', async () => {
  const kit = createTestKit()
  const got: unknown[] = []
  const self = kit.system.spawn(
    receive<Do | { type: 'got'; value: unknown }>((ctx, m) => {
      if (m.type === 'got') got.push(m.value)
      else if (got.length === 0 && ctx.sender === undefined) throw new Error('no sender')
      else if (asked++ === 0) {
        ctx.pipeToSelf(
          ctx.ask(ctx.self, go),
          (value) => ({ type: 'got', value }),
          (value) => ({ type: 'got', value }),
        )
        m.replyTo.tell('first')
      } else m.replyTo.tell('second')
      return same
    }),
  )
  let asked = 0
  expect(await settled(kit, self.ask(go))).toBe('first')
  await kit.settle()
  expect(got).toEqual(['second'])
  await kit.end()
})

test('not a deadlock: what an earlier handler asked and did not wait for', async () => {
  const kit = createTestKit()
  let n = 0
  const refs: Record<string, ActorRef<Do>> = {}
  refs['slow'] = kit.system.spawn(
    receive<Do>(async (ctx, m) => {
      m.replyTo.tell(await ctx.ask(refs['a']!, go))
      return same
    }),
    { name: 'slow' },
  )
  refs['a'] = kit.system.spawn(
    receive<Do>((ctx, m) => {
      if (++n === 1) void ctx.ask(refs['slow']!, go)
      m.replyTo.tell(n)
      return same
    }),
    { name: 'a' },
  )
  expect(await settled(kit, refs['a'].ask(go))).toBe(1)
  await kit.settle()
  expect(n).toBe(2)
  await kit.end()
})

test('not a deadlock: what an earlier handler asked, while a later one waits for something else', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const refs: Record<string, ActorRef<Do>> = {}
  refs['slow'] = kit.system.spawn(
    receive<Do>(async (ctx, m) => {
      await delay(10, { clock })
      m.replyTo.tell(await ctx.ask(refs['a']!, go))
      return same
    }),
  )
  let n = 0
  let answer: Promise<unknown> | undefined
  refs['a'] = kit.system.spawn(
    receive<Do>((ctx, m) => {
      if (++n === 1) answer = ctx.ask(refs['slow']!, go)
      m.replyTo.tell(n)
      return n === 2 ? delay(20, { clock }) : same
    }),
  )
  const [one, two] = [refs['a'].ask(go), refs['a'].ask(go)]
  await kit.advance(30)
  // The slow one asked while the second message waited for its delay, and was answered after it.
  expect([await one, await two, await answer]).toEqual([1, 2, 3])
  await kit.end()
})

test('a question queued behind another message binds all the same', async () => {
  const kit = createTestKit()
  const refs: Record<string, ActorRef<Do>> = cast(kit, {
    a: (ctx) => ctx.ask(refs['b']!, go),
    b: async (ctx) => {
      await Promise.resolve()
      return ctx.ask(refs['a']!, go)
    },
  })
  // B works for a third party; A's question waits in its mailbox.
  const third = outcomeOf(refs['b']!.ask(go))
  const first = outcomeOf(refs['a']!.ask(go))
  await kit.settle()
  expect([await third, await first].some((e) => e instanceof DeadlockError)).toBe(true)
  await kit.end()
})

test('a branch of several asks is searched, and a shared dead end only once', async () => {
  const kit = createTestKit()
  const never = new Promise(() => {})
  const refs: Record<string, ActorRef<Do>> = cast(kit, {
    a: (ctx) => Promise.all(['leaf', 'b', 'leaf2'].map((x) => ctx.ask(refs[x]!, go))),
    b: (ctx) => Promise.all(['leaf', 'leaf2', 'c'].map((x) => ctx.ask(refs[x]!, go))),
    c: (ctx) => ctx.ask(refs['a']!, go),
    leaf: () => never,
    leaf2: () => never,
  })
  expect(await settled(kit, refs['a']!.ask(go))).toMatchObject({ cycle: ['/user/c', '/user/a', '/user/b', '/user/c'] })
  await kit.end()
})

test.each<[DeadlockMode, 'system' | 'ask']>([
  ['warn', 'system'],
  ['off', 'system'],
  ['warn', 'ask'],
  ['off', 'ask'],
])('%s, said by the %s, lets the cycle be', async (mode, by) => {
  const kit = createTestKit(by === 'system' ? { deadlock: mode } : {})
  const { a } = cast(kit, { a: (ctx) => ctx.ask(ctx.self, go, { timeout: 50, ...(by === 'ask' && { deadlock: mode }) }) })
  expect(await settled(kit, a!.ask(go))).toBe('pending')
  const warnings = kit.logs.filter((l) => l.level === 'warn')
  expect(warnings).toHaveLength(mode === 'warn' ? 1 : 0)
  if (mode === 'warn') expect(warnings[0]!.fields).toMatchObject({ actor: '/user/a', cycle: ['/user/a', '/user/a'] })
  await kit.advance(50)
  await kit.end()
})

test('a mode that does not exist is refused', async () => {
  expect(() => createTestKit({ deadlock: 'maybe' as never })).toThrow(/deadlock/)
  const kit = createTestKit()
  const { a } = cast(kit, { a: () => 1 })
  expect(await outcomeOf(a!.ask(go, { deadlock: 'maybe' as never }))).toMatchObject({ option: 'deadlock' })
  await kit.end()
})

test('an ask in an async setup that waits for someone who asks back is a deadlock', async () => {
  const kit = createTestKit()
  const refs: Record<string, ActorRef<Do>> = cast(kit, { b: (ctx) => ctx.ask(starting as ActorRef<never>, go as never) })
  class Starting extends Actor {
    override async onStart(): Promise<void> {
      await this.ctx.ask(refs['b']!, go)
    }
    do(): void {}
  }
  const starting = kit.system.spawn(Starting, { name: 's' })
  const outcome = outcomeOf(kit.system.started(starting))
  await kit.settle()
  expect(await outcome).toMatchObject({ code: 'actor-initialization', cause: { code: 'deadlock', cycle: ['/user/b', '/user/s', '/user/b'] } })
  await kit.end()
})

/** Answers after a while, and asks back before that. */
const askingBack = (kit: TestKit): ActorRef<Do & { back: ActorRef<Do> }> =>
  kit.system.spawn(
    receive<Do & { back: ActorRef<Do> }>(async (ctx, m) => {
      await delay(5, { clock: kit.system.clock })
      m.replyTo.tell(await ctx.ask(m.back, go).catch((cause: unknown) => cause))
      return same
    }),
  )

test('not a deadlock: what the handler of an earlier message asked, where the same message comes again and waits', async () => {
  const kit = createTestKit()
  const b = askingBack(kit)
  let n = 0
  let answer: Promise<unknown> | undefined
  const a = kit.system.spawn(
    receive<Do | 'tick'>((ctx, m) => {
      if (m !== 'tick') return m.replyTo.tell('answered')
      if (++n === 2) return delay(20, { clock: kit.system.clock })
      answer = ctx.ask(b, { type: 'do', back: ctx.self })
      return same
    }),
  )
  a.tell('tick')
  a.tell('tick')
  await kit.advance(30)
  expect(await answer).toBe('answered')
  await kit.end()
})

test('not a deadlock: what setup asked, while PostStart waits for something else', async () => {
  const kit = createTestKit()
  const b = askingBack(kit)
  let answer: Promise<unknown> | undefined
  kit.system.spawn(
    setup<Do>((ctx) => {
      answer = ctx.ask(b, { type: 'do', back: ctx.self })
      return receive<Do>(
        (_ctx, m) => m.replyTo.tell('answered'),
        (_ctx, s) => (s.type === 'PostStart' ? delay(20, { clock: kit.system.clock }) : undefined),
      )
    }),
  )
  await kit.advance(30)
  expect(await answer).toBe('answered')
  await kit.end()
})

test('a deadlock: a handler that forwards its message and then waits for one that asks back', async () => {
  const kit = createTestKit()
  const b = askingBack(kit)
  const c = kit.system.spawn(receive<Do>((_ctx, m) => m.replyTo.tell('forwarded')))
  let answer: unknown
  const a = kit.system.spawn(
    receive<Do>(async (ctx) => {
      const asked = ctx.ask(b, { type: 'do', back: ctx.self })
      ctx.forward(c)
      answer = await asked
      return same
    }),
  )
  const first = a.ask(go)
  await kit.advance(30)
  expect(await first).toBe('forwarded')
  expect(answer).toBeInstanceOf(DeadlockError)
  await kit.end()
})

test('a deadlock: A asks B, which forwards the question back to A', async () => {
  const kit = createTestKit()
  const refs: Record<string, ActorRef<Do>> = cast(kit, { a: (ctx) => ctx.ask(refs['b']!, go), b: (ctx) => ctx.forward(refs['a']!) })
  expect(await settled(kit, refs['a']!.ask(go))).toMatchObject({ code: 'deadlock', cycle: ['/user/a', '/user/a'] })
  await kit.end()
})

test('a deadlock: B asks A in the handler of a timer, while the question of A waits behind it', async () => {
  const kit = createTestKit()
  const heard: unknown[] = []
  const { a } = cast(kit, { a: (ctx) => ctx.ask(b, go) })
  const b: ActorRef<Do> = kit.system.spawn(
    setup<Do | 'tick'>((ctx) => {
      ctx.timers.once('t', 10, 'tick')
      return receive<Do | 'tick'>(async (c, m) => {
        if (m !== 'tick') return m.replyTo.tell('free')
        await delay(5, { clock: c.system.clock })
        heard.push(await outcomeOf(c.ask(a!, go)))
        return same
      })
    }),
    { name: 'b' },
  )
  await kit.advance(10)
  const asked = a!.ask(go)
  await kit.advance(5)
  expect(heard).toMatchObject([{ code: 'deadlock', cycle: ['/user/b', '/user/a', '/user/b'] }])
  expect(await settled(kit, asked)).toBe('free')
  await kit.end()
})
