// Pairs of features that no other test brings together. tools/feature-pairs lists all pairs, and the test of each.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  bounded,
  entities,
  type Middleware,
  pool,
  receive,
  same,
  setup,
  stopped,
  swallow,
} from '@troupe/core'

type Ask = { type: 'go'; replyTo: ActorRef<string> }
const go = { type: 'go' } as const
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((cause: unknown) => cause)
/** What has come of a promise by now. */
const nowOf = (promise: Promise<unknown> | undefined): Promise<unknown> => Promise.race([promise, Promise.resolve('pending')])

/** An actor that does what it is told. */
type Do = (ctx: ActorContext<Do>) => unknown
const puppet = (): Behavior<Do> =>
  receive<Do>(async (ctx, act) => {
    await act(ctx)
    return same
  })

describe('deadlock detection', () => {
  test('a question that its target has stashed binds the target: asking back closes a circle', async () => {
    const kit = createTestKit()
    let back: Promise<unknown> | undefined
    const target = kit.system.spawn(
      receive<Ask | { type: 'back' }>(async (ctx, m) => {
        if (m.type === 'go') ctx.stash.add(m)
        else await (back = outcome(ctx.ask(asker, go)))
        return same
      }),
      { name: 'target' },
    )
    const asker: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx, m) => {
        m.replyTo.tell(await ctx.ask(target as ActorRef<Ask>, go))
        return same
      }),
      { name: 'asker' },
    )
    const first = outcome(asker.ask(go, { timeout: 1000 }))
    await kit.settle()
    target.tell({ type: 'back' })
    await kit.settle()
    expect(await nowOf(back)).toMatchObject({ code: 'deadlock', cycle: ['/user/target', '/user/asker', '/user/target'] })
    await kit.advance(1000)
    await first
    await kit.end()
  })

  test('a question of an incarnation that was restarted closes no circle', async () => {
    const kit = createTestKit()
    const target = kit.system.spawn(puppet())
    let asked = 0
    const asker: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx, m) => {
        if (++asked === 1) await ctx.ask(silent, go)
        m.replyTo.tell('free again')
        return same
      }),
      { stopTimeout: 10 },
    )
    let release!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    let answer: unknown
    const silent: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx) => {
        await held
        answer = await outcome(ctx.ask(asker, go))
        return same
      }),
    )
    const first = outcome(asker.ask(go))
    await kit.settle()
    kit.system.restart(asker)
    await kit.advance(20)
    release()
    await kit.settle()
    expect(answer).toBe('free again')
    await first
    target.stop()
    await kit.end()
  })

  test.each(['entities', 'a pool'] as const)('a circle through %s is refused', async (how) => {
    const kit = createTestKit()
    const routee = receive<Ask>(async (ctx, m) => {
      m.replyTo.tell(await ctx.ask(asker, go))
      return same
    })
    const router: ActorRef<Ask> =
      how === 'entities'
        ? kit.system.spawn(entities<Ask>({ keyOf: () => 'a', create: () => routee, idle: 10_000 }), { name: 'router' })
        : kit.system.spawn(
            pool(() => routee, { size: 2 }),
            { name: 'router' },
          )
    const asker: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx, m) => {
        m.replyTo.tell(String(await outcome(ctx.ask(router, go))))
        return same
      }),
      { name: 'asker' },
    )
    const answer = asker.ask(go)
    await kit.settle()
    expect(await nowOf(answer)).toMatch(/deadlock/i)
    await kit.end()
  })

  test('a handler that is pending while its actor stops still closes a circle', async () => {
    const kit = createTestKit()
    let back: Promise<unknown> | undefined
    let release!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    const asker: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx) => {
        await ctx.ask(target, go)
        return same
      }),
      { name: 'asker', stopTimeout: 1000 },
    )
    const target: ActorRef<Ask> = kit.system.spawn(
      receive<Ask>(async (ctx, m) => {
        await held
        back = outcome(ctx.ask(asker, go, { timeout: 5000 }))
        await back
        m.replyTo.tell('done')
        return same
      }),
      { name: 'target' },
    )
    const first = outcome(asker.ask(go))
    await kit.settle()
    asker.stop()
    await kit.settle()
    release()
    await kit.settle()
    expect(await nowOf(back)).toMatchObject({ code: 'deadlock' })
    await kit.advance(2000)
    await first
    await kit.end()
  })
})

describe('adapters', () => {
  test('a timer that goes to an adapter is adapted, and is a dead letter once the adapter has ended', async () => {
    const kit = createTestKit()
    const got: string[] = []
    let adapter!: ActorRef<number>
    const owner = kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt<number>((n) => `<${n}>`)
        return receive<string>((_ctx, m) => void got.push(m))
      }),
    )
    const sender = kit.system.spawn(puppet())
    sender.tell((ctx) => {
      ctx.timers.once('first', 10, 1 as never, { to: adapter })
      ctx.timers.once('second', 30, 2 as never, { to: adapter })
    })
    await kit.advance(10)
    expect(got).toEqual(['<1>'])
    kit.system.restart(owner)
    await kit.advance(20)
    expect(got).toEqual(['<1>'])
    expect(kit.system.deadLetters.count).toBe(1)
    await kit.end()
  })

  test('an adapter cannot be watched: the error recommends its actor', async () => {
    const kit = createTestKit()
    let adapter!: ActorRef<number>
    const owner = kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt<number>((n) => `<${n}>`)
        return receive<string>(() => same)
      }),
    )
    const heard: unknown[] = []
    await kit.settle()
    kit.system.spawn(
      setup<never>((ctx) => {
        try {
          ctx.watch(adapter)
        } catch (cause) {
          heard.push(cause)
        }
        return receive<never>(() => same)
      }),
    )
    await kit.settle()
    expect(heard).toMatchObject([{ code: 'foreign-ref', message: expect.stringContaining('the actor of an adapter') as string }])
    owner.stop()
    await kit.settle()
    await kit.end()
  })

  test('a link sees what the adapter has made of a message, once', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const link: Middleware = { name: 'seer', before: (m) => (seen.push(m), m), after: (m) => void seen.push(`after ${String(m)}`) }
    let adapter!: ActorRef<number>
    kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt<number>((n) => `<${n}>`)
        return receive<string>(() => same)
      }),
      { middleware: [link] },
    )
    await kit.settle()
    adapter.tell(7)
    await kit.settle()
    expect(seen).toEqual(['<7>', 'after <7>'])
    await kit.end()
  })

  test('what an adapter had in the mailbox of an actor that stops is no message of the actor it is redirected to', async () => {
    const kit = createTestKit()
    const got: unknown[] = []
    const heir = kit.system.spawn(receive<string>((_ctx, m) => void got.push(m)))
    let adapter!: ActorRef<{ type: 'foreign'; replyTo?: ActorRef<string> }>
    const owner = kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt(() => 'adapted')
        return receive<string>((_ctx, m) => (m === 'stop' ? stopped : same))
      }),
      { drain: { redirect: heir } },
    )
    await kit.settle()
    owner.tell('stop')
    owner.tell('mine')
    adapter.tell({ type: 'foreign' })
    const asked = outcome(adapter.ask({ type: 'foreign' } as never))
    await kit.settle()
    expect(got).toEqual(['mine'])
    expect(await nowOf(asked)).toMatchObject({ code: 'ask-refused', message: expect.stringContaining('stale-adapter') as string })
    expect(kit.system.deadLetters.count).toBe(2)
    await kit.end()
  })

  test('what an adapter of an entity had in its mailbox is no message of its successor', async () => {
    const kit = createTestKit()
    const got: unknown[] = []
    let adapter!: ActorRef<number>
    let lives = 0
    const router = kit.system.spawn(
      entities<{ id: string; what: string }>({
        keyOf: (m) => m.id,
        idle: 10_000,
        create: () =>
          setup((ctx) => {
            const life = ++lives
            if (life === 1) adapter = ctx.adapt<number>((n) => ({ id: 'a', what: `adapted ${n}` }))
            return receive<{ id: string; what: string }>((_ctx, m) => {
              got.push(`${life} ${m.what}`)
              return m.what === 'leave' ? stopped : same
            })
          }),
      }),
    )
    router.tell({ id: 'a', what: 'first' })
    await kit.settle()
    router.tell({ id: 'a', what: 'leave' })
    router.tell({ id: 'a', what: 'next' })
    // Both are in the mailbox of the entity before its turn comes.
    kit.system.spawn(setup<never>(() => (adapter.tell(1), stopped)))
    await kit.settle()
    expect(got).toContain('2 next')
    expect(got.filter((entry) => typeof entry !== 'string' || entry.includes('undefined'))).toEqual([])
    await kit.end()
  })
})

describe('middleware', () => {
  test('a stashed message passes the links again when it comes back, each time from before to after', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const link: Middleware = {
      name: 'seer',
      before: (m) => (seen.push(`before ${String(m)}`), m),
      after: (m) => void seen.push(`after ${String(m)}`),
    }
    let open = false
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        if (m === 'open') {
          open = true
          ctx.stash.unstashAll()
        } else if (!open) ctx.stash.add(m)
        return same
      }),
      { middleware: [link] },
    )
    ref.tell('note')
    ref.tell('open')
    await kit.settle()
    expect(seen).toEqual(['before note', 'after note', 'before open', 'after open', 'before note', 'after note'])
    await kit.end()
  })

  test('a tick of a timer passes the links, and one that a link swallows does not stop the next', async () => {
    const kit = createTestKit()
    const got: string[] = []
    let swallowed = 0
    const link: Middleware = { name: 'first only', before: (m) => (m === 'tick' && swallowed++ === 0 ? swallow : m) }
    kit.system.spawn(
      setup<string>((ctx) => {
        ctx.timers.every('t', 10, 'tick')
        return receive<string>((_ctx, m) => void got.push(m))
      }),
      { middleware: [link] },
    )
    await kit.advance(10)
    expect(got).toEqual([])
    await kit.advance(20)
    expect(got).toEqual(['tick', 'tick'])
    await kit.end()
  })

  test('a restart leaves the links open; they are closed once, when the actor ends', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const link: Middleware = {
      name: 'seer',
      error: (cause) => void seen.push((cause as Error).message),
      close: () => void seen.push('closed'),
      before: (m) => (seen.push(String(m)), m),
    }
    const ref = kit.system.spawn(
      receive<string>((_ctx, m) => {
        if (m === 'boom') throw new Error('it failed')
        return same
      }),
      { middleware: [link], supervision: 'restart' },
    )
    ref.tell('boom')
    ref.tell('after the restart')
    await kit.advance(10_000)
    ref.stop()
    await kit.settle()
    expect(seen).toEqual(['boom', 'it failed', 'after the restart', 'closed'])
    await kit.end()
  })

  test('links of entities belong to each life: a message that moves to the successor is seen once by its links', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    let links = 0
    const router = kit.system.spawn(
      entities<{ id: string; what: string }>({
        keyOf: (m) => m.id,
        idle: 10_000,
        create: () => receive((_ctx, m) => (m.what === 'leave' ? stopped : same)),
        options: {
          middleware: [
            {
              name: 'seer',
              before: (m) => (seen.push((m as { what: string }).what), m),
              close: () => void links++,
            },
          ],
        },
      }),
    )
    for (const what of ['leave', 'next', 'last']) router.tell({ id: 'a', what })
    await kit.settle()
    expect(seen).toEqual(['leave', 'next', 'last'])
    expect(links).toBe(1)
    await kit.end()
  })
})

describe('mailboxes', () => {
  test.each([
    ['drop-newest', ['one', 'two']],
    ['drop-oldest', ['two', 'gone']],
    ['reject', ['one', 'two']],
  ] as const)('a message of watchWith that finds a full mailbox (%s) follows its policy, as any other', async (policy, expected) => {
    const kit = createTestKit()
    const got: unknown[] = []
    const target = kit.system.spawn(receive<never>(() => same))
    const watcher = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.watchWith(target, 'gone')
        return receive<string>((_ctx, m) => void got.push(m))
      }),
      { mailbox: bounded(2, policy) },
    )
    await kit.settle()
    kit.system.suspend(watcher, 'to fill its mailbox')
    watcher.tell('one')
    watcher.tell('two')
    target.stop()
    await kit.settle()
    kit.system.resume(watcher)
    await kit.settle()
    expect(got).toEqual(expected)
    await kit.end()
  })

  test('an entity with a bounded mailbox refuses what is beyond it, and no other entity is touched', async () => {
    const kit = createTestKit()
    const got: string[] = []
    let release!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    const router = kit.system.spawn(
      entities<{ id: string; n: number }>({
        keyOf: (m) => m.id,
        idle: 10_000,
        create: (key) =>
          receive(async (_ctx, m) => {
            if (key === 'a') await held
            got.push(`${key}${m.n}`)
            return same
          }),
        options: { mailbox: bounded(2, 'reject') },
      }),
    )
    for (let n = 0; n < 5; n++) {
      router.tell({ id: 'a', n })
      router.tell({ id: 'b', n })
      await kit.settle()
    }
    release()
    await kit.settle()
    expect(got.filter((entry) => entry.startsWith('b'))).toEqual(['b0', 'b1', 'b2', 'b3', 'b4'])
    expect(got.filter((entry) => entry.startsWith('a'))).toEqual(['a0', 'a1', 'a2'])
    expect(kit.system.deadLetters.count).toBe(2)
    await kit.end()
  })

  test('an offer waits while a handler is pending, and is taken when that has made room', async () => {
    const kit = createTestKit()
    const got: number[] = []
    let release!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    const ref = kit.system.spawn(
      receive<number>(async (_ctx, n) => {
        if (n === 0) await held
        got.push(n)
        return same
      }),
      { mailbox: bounded(1, 'block') },
    )
    ref.tell(0)
    await kit.settle()
    ref.tell(1)
    let taken = false
    void ref.offer(2).then(() => (taken = true))
    await kit.settle()
    expect(taken).toBe(false)
    release()
    await kit.settle()
    expect(taken).toBe(true)
    expect(got).toEqual([0, 1, 2])
    await kit.end()
  })
})

describe('watches', () => {
  test('an asker that watches its target hears of its end once, and its question is rejected', async () => {
    const kit = createTestKit()
    const heard: unknown[] = []
    const target = kit.system.spawn(receive<Ask>(() => same))
    kit.system
      .spawn(
        receive<'go'>(
          async (ctx) => {
            ctx.watch(target)
            heard.push(((await outcome(ctx.ask(target, go))) as { code: string }).code)
            return same
          },
          (_ctx, s) => void (s.type === 'Terminated' && heard.push(s.type)),
        ),
      )
      .tell('go')
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(heard).toEqual(['ask-target-stopped', 'Terminated'])
    await kit.end()
  })

  test('a watcher of an entity hears of each life that it watched, once, also where messages go on to a successor', async () => {
    const kit = createTestKit()
    const heard: unknown[] = []
    const watcher = kit.system.spawn(
      receive<ActorRef<never>>(
        (ctx, ref) => ctx.watch(ref),
        (_ctx, s) => void (s.type === 'Terminated' && heard.push(s.ref)),
      ),
    )
    const lives: ActorRef<never>[] = []
    const router = kit.system.spawn(
      entities<{ id: string; leave: boolean }>({
        keyOf: (m) => m.id,
        idle: 10_000,
        create: () =>
          setup((ctx) => {
            lives.push(ctx.self)
            watcher.tell(ctx.self)
            return receive((_ctx, m) => (m.leave ? stopped : same))
          }),
      }),
    )
    for (const leave of [false, true, false, true, false]) router.tell({ id: 'a', leave })
    await kit.settle()
    expect(lives).toHaveLength(3)
    expect(heard).toEqual(lives.slice(0, 2))
    await kit.end()
  })
})

describe('pending handlers', () => {
  test('what a pending handler unstashes comes before what arrived meanwhile, and not before it has settled', async () => {
    const kit = createTestKit()
    const got: string[] = []
    let release!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    let open = false
    const ref = kit.system.spawn(
      receive<string>(async (ctx, m) => {
        if (m === 'open') {
          open = true
          ctx.stash.unstashAll()
          await held
          got.push('opened')
        } else if (open) got.push(m)
        else ctx.stash.add(m)
        return same
      }),
    )
    for (const m of ['a', 'b', 'open']) ref.tell(m)
    await kit.settle()
    ref.tell('late')
    await kit.settle()
    expect(got).toEqual([])
    release()
    await kit.settle()
    expect(got).toEqual(['opened', 'a', 'b', 'late'])
    await kit.end()
  })
})

describe('timers', () => {
  test('a timer of an entity ends with that life: no tick reaches its successor', async () => {
    const kit = createTestKit()
    const got: string[] = []
    let lives = 0
    const router = kit.system.spawn(
      entities<{ id: string; what: string }>({
        keyOf: (m) => m.id,
        idle: 10_000,
        create: () =>
          setup((ctx) => {
            const life = ++lives
            ctx.timers.every('t', 10, { id: 'a', what: `tick of ${life}` })
            return receive((_ctx, m) => {
              got.push(`${life}: ${m.what}`)
              return m.what === 'leave' ? stopped : same
            })
          }),
      }),
    )
    router.tell({ id: 'a', what: 'first' })
    await kit.advance(10)
    router.tell({ id: 'a', what: 'leave' })
    router.tell({ id: 'a', what: 'next' })
    await kit.advance(15)
    expect(got).toEqual(['1: first', '1: tick of 1', '1: leave', '2: next', '2: tick of 2'])
    await kit.end()
  })
})
