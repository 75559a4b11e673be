// Messages put aside: claims 10, 33 and 34, and C8; and that what comes back is what was put aside.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  bounded,
  ignore,
  mailboxOf,
  type MailboxQueue,
  measured,
  priority,
  receive,
  same,
  setup,
  type Signal,
  type SpawnOptions,
  supervise,
} from '@troupe/core'

type Note = { type: 'n'; n: number } | { type: 'open' } | { type: 'close' } | { type: 'fail-on'; n: number }

/** Stashes numbers while closed, notes them while open; `failures` says how often a number fails. */
function gate(seen: number[], failures = new Map<number, number>()): Behavior<Note> {
  const open: Behavior<Note> = receive((_ctx, m) => {
    if (m.type === 'close') return closed
    if (m.type !== 'n') return same
    const left = failures.get(m.n) ?? 0
    if (left > 0) {
      failures.set(m.n, left - 1)
      throw new Error(`boom ${m.n}`)
    }
    seen.push(m.n)
    return same
  })
  const closed: Behavior<Note> = receive((ctx, m) => {
    if (m.type === 'n') ctx.stash.add(m)
    if (m.type !== 'open') return same
    ctx.stash.unstashAll()
    return open
  })
  return closed
}

describe('33. unstash is FIFO and handles only what was buffered at the call; restashing keeps order', () => {
  test('unstashed messages come in order, before what is in the mailbox', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(gate(seen))
    for (const n of [1, 2, 3]) ref.tell({ type: 'n', n })
    ref.tell({ type: 'open' })
    for (const n of [4, 5]) ref.tell({ type: 'n', n })
    await kit.settle()
    expect(seen).toEqual([1, 2, 3, 4, 5])
    await kit.end()
  })

  test('a message restashed while unstashing is not handled again by that call', async () => {
    const kit = createTestKit()
    const handled: number[] = []
    const sizes: number[] = []
    const ref = kit.system.spawn(
      receive<number | 'go'>((ctx, m) => {
        if (m === 'go') {
          sizes.push(ctx.stash.size)
          ctx.stash.unstashAll()
          sizes.push(ctx.stash.size)
          return same
        }
        handled.push(m)
        ctx.stash.add(m)
        return same
      }),
    )
    for (const n of [1, 2, 3]) ref.tell(n)
    ref.tell('go')
    await kit.settle()
    expect(handled).toEqual([1, 2, 3, 1, 2, 3])
    ref.tell('go')
    await kit.settle()
    expect(handled).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3])
    expect(sizes).toEqual([3, 0, 3, 0])
    expect((await kit.checkLedger()).stashed).toBe(3)
    await kit.end()
  })

  test('unstashing an empty stash does nothing, and clear drops with a count', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<number | 'clear'>((ctx, m) => {
        if (m === 'clear') {
          ctx.stash.clear()
          ctx.stash.unstashAll()
        } else ctx.stash.add(m)
        return same
      }),
    )
    ref.tell(1)
    ref.tell(2)
    ref.tell('clear')
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ stashed: 0, dropped: 2, handled: 1 })
    await kit.end()
  })

  test('a hundred rounds of stashing through a mailbox of another kind keep order', async () => {
    class Fifo implements MailboxQueue {
      meta: unknown = undefined
      shifts = 0
      readonly #items: [unknown, unknown][] = []
      get size(): number {
        return this.#items.length
      }
      push(message: unknown, meta: unknown): void {
        this.#items.push([message, meta])
      }
      shift(): unknown {
        this.shifts++
        const item = this.#items.shift()
        this.meta = item?.[1]
        return item?.[0]
      }
    }
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(gate(seen), { mailbox: mailboxOf({ kind: 'fifo', create: () => new Fifo() }) })
    const expected: number[] = []
    for (let round = 0; round < 100; round++) {
      ref.tell({ type: 'close' })
      for (let i = 0; i < 3; i++) {
        ref.tell({ type: 'n', n: round * 3 + i })
        expected.push(round * 3 + i)
      }
      ref.tell({ type: 'open' })
      await kit.settle()
    }
    expect(seen).toEqual(expected)
    await kit.end()
  })

  test('unstashing again and again does not pile up queues in front of a mailbox of another kind', async () => {
    let deepest = 0
    class Plain implements MailboxQueue {
      meta: unknown = undefined
      readonly #items: unknown[] = []
      get size(): number {
        deepest = Math.max(deepest, new Error().stack!.split('\n').length)
        return this.#items.length
      }
      push(message: unknown): void {
        this.#items.push(message)
      }
      shift(): unknown {
        return this.#items.shift()
      }
    }
    Error.stackTraceLimit = 200
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        if (m !== 'go') return same
        ctx.stash.add(m)
        ctx.stash.clear()
        ctx.stash.add('x')
        ctx.stash.unstashAll()
        return same
      }),
      { mailbox: mailboxOf({ kind: 'plain', create: () => new Plain() }) },
    )
    for (let i = 0; i < 150; i++) {
      ref.tell('go')
      await kit.settle()
    }
    Error.stackTraceLimit = 10
    expect(deepest).toBeLessThan(60)
    await kit.end()
  })
})

describe('34. overflow with error throws inside the handler and leaves the buffer unchanged', () => {
  const keeper = (caught: unknown[], seen: number[]): Behavior<number | 'open'> =>
    receive((ctx, m) => {
      if (m === 'open') {
        ctx.stash.unstashAll()
        return receive((_c, n) => {
          if (n !== 'open') seen.push(n)
          return same
        })
      }
      try {
        ctx.stash.add(m)
      } catch (error) {
        caught.push(error)
      }
      return same
    })
  const run = async (stash: NonNullable<SpawnOptions['stash']>): Promise<{ caught: unknown[]; seen: number[]; dropped: number }> => {
    const kit = createTestKit()
    const caught: unknown[] = []
    const seen: number[] = []
    const ref = kit.system.spawn(keeper(caught, seen), { name: 'keeper', stash })
    for (const n of [1, 2, 3, 4]) ref.tell(n)
    ref.tell('open')
    await kit.settle()
    const { dropped } = await kit.checkLedger()
    await kit.end()
    return { caught, seen, dropped }
  }

  test('error: the first two stay', async () => {
    const { caught, seen, dropped } = await run({ capacity: 2 })
    expect(caught).toHaveLength(2)
    expect(caught[0]).toMatchObject({ code: 'stash-overflow', message: expect.stringContaining('/user/keeper') })
    expect(seen).toEqual([1, 2])
    expect(dropped).toBe(0)
  })

  test('drop-oldest: the last two stay, and the drops are counted', async () => {
    const { caught, seen, dropped } = await run({ capacity: 2, overflow: 'drop-oldest' })
    expect(caught).toEqual([])
    expect(seen).toEqual([3, 4])
    expect(dropped).toBe(2)
  })

  test('an overflow that is not caught is a failure of that message, and the stash survives the restart', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(gate(seen), { stash: { capacity: 2 } })
    for (const n of [1, 2, 3]) ref.tell({ type: 'n', n })
    ref.tell({ type: 'open' })
    await kit.advance(50)
    expect(seen).toEqual([1, 2])
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })
})

describe('10. the failure of a handler while unstashing loses none of the rest of the stash, also on a second failure', () => {
  const policies: [string, SpawnOptions['supervision'], number[]][] = [
    // A restart begins closed again: what was not handled is stashed again and comes in order.
    ['restart', supervise({ limit: { restarts: 5, within: 1000 }, backoff: { jitter: 0 } }), [1, 4, 5, 6]],
    ['resume', 'resume', [1, 4, 5, 6]],
  ]
  for (const [name, supervision, expected] of policies)
    test(`under ${name}`, async () => {
      const kit = createTestKit()
      const seen: number[] = []
      const failures = new Map([
        [2, 1],
        [3, 1],
      ])
      const ref = kit.system.spawn(gate(seen, failures), { supervision })
      for (const n of [1, 2, 3, 4, 5]) ref.tell({ type: 'n', n })
      ref.tell({ type: 'open' })
      ref.tell({ type: 'n', n: 6 })
      await kit.advance(200)
      ref.tell({ type: 'open' })
      await kit.advance(200)
      ref.tell({ type: 'open' })
      await kit.advance(200)
      expect(seen).toEqual(expected)
      expect(await kit.checkLedger()).toMatchObject({ failed: 2, stashed: 0, queued: 0, dropped: 0 })
      await kit.end()
    })
})

describe('C8: a stash survives restart, and is drained like the mailbox on stop', () => {
  test('survives a restart', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(gate(seen))
    for (const n of [1, 2]) ref.tell({ type: 'n', n })
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect((await kit.checkLedger()).stashed).toBe(2)
    ref.tell({ type: 'open' })
    await kit.settle()
    expect(seen).toEqual([1, 2])
    await kit.end()
  })

  test('dead letters on stop, before what is in the mailbox', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(gate([]))
    for (const n of [1, 2]) ref.tell({ type: 'n', n })
    await kit.settle()
    ref.stop()
    ref.tell({ type: 'n', n: 3 })
    await kit.settle()
    expect(kit.system.deadLetters.list().map((l) => [(l.message as { n: number }).n, l.reason])).toEqual([
      [1, 'stopped'],
      [2, 'stopped'],
      [3, 'stopped'],
    ])
    await kit.end()
  })

  test('redirected on stop with senders and headers; a question among them is answered by the other', async () => {
    const kit = createTestKit()
    type Q = { type: 'q'; replyTo: ActorRef<string> }
    const heard: unknown[] = []
    const other = kit.system.spawn(
      receive<Q | string>((ctx, m) => {
        if (typeof m === 'string') heard.push([m, ctx.sender?.path, ctx.headers])
        else m.replyTo.tell('from the other')
        return same
      }),
    )
    const sender = kit.system.spawn(ignore, { name: 'sender' })
    const ref = kit.system.spawn(
      receive<Q | string>((ctx, m) => {
        ctx.stash.add(m)
        return same
      }),
      { drain: { redirect: other } },
    )
    const answer = ref.ask({ type: 'q' })
    ref.tell('plain', { sender, headers: { tenant: 7 } })
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(await answer).toBe('from the other')
    expect(heard).toEqual([['plain', '/user/sender', { tenant: 7 }]])
    await kit.end()
  })
})

describe('what comes back from a stash is what was put aside', () => {
  /** Stashes the first time it sees each message, then asks for them back. */
  const twice = <M>(seen: unknown[], start: (ctx: ActorContext<M>) => void): Behavior<M> =>
    setup<M>((ctx) => {
      start(ctx)
      let stashed = false
      return receive((c, m) => {
        if (stashed) seen.push(m)
        else {
          stashed = true
          c.stash.add(m)
          c.stash.unstashAll()
        }
        return same
      })
    })

  test('a timer tick that was stashed is handled when it comes back', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    kit.system.spawn(twice<string>(seen, (ctx) => ctx.timers.once('k', 5, 'tick')))
    await kit.advance(10)
    expect(seen).toEqual(['tick'])
    await kit.end()
  })

  test('a watchWith message that was stashed is handled when it comes back', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const target = kit.system.spawn(ignore)
    kit.system.spawn(twice<string>(seen, (ctx) => ctx.watchWith(target, 'gone')))
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(seen).toEqual(['gone'])
    await kit.end()
  })

  test('an adapted message that was stashed is not adapted a second time', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    let adapter: ActorRef<number> | undefined
    kit.system.spawn(twice<string>(seen, (ctx) => (adapter = ctx.adapt<number>((n) => `<${n}>`))))
    await kit.settle()
    adapter!.tell(7)
    await kit.settle()
    expect(seen).toEqual(['<7>'])
    await kit.end()
  })

  test('a question that was stashed is answered when it comes back, and skipped once it has expired', async () => {
    const kit = createTestKit()
    type Ask = { type: 'q'; replyTo: ActorRef<string> } | { type: 'open' }
    let handled = 0
    const open: Behavior<Ask> = receive((ctx, m) => {
      handled++
      if (m.type === 'q') ctx.reply('yes')
      return same
    })
    const ref = kit.system.spawn(
      receive<Ask>((ctx, m) => {
        if (m.type === 'q') {
          ctx.stash.add(m)
          return same
        }
        ctx.stash.unstashAll()
        return open
      }),
    )
    const late = ref.ask({ type: 'q' }, { timeout: 10 }).catch((cause: unknown) => cause)
    const good = ref.ask({ type: 'q' }, { timeout: 100 })
    await kit.advance(50)
    expect(await late).toMatchObject({ code: 'ask-timeout' })
    ref.tell({ type: 'open' })
    await kit.settle()
    expect(await good).toBe('yes')
    expect(handled).toBe(1)
    await kit.end()
  })
})

describe('a signal', () => {
  test('cannot be put aside, in its own handler or later, and nothing is counted', async () => {
    const kit = createTestKit()
    const errors: unknown[] = []
    const seen: Signal[] = []
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        const child = ctx.spawn(ignore, { name: 'child' })
        const gone = ctx.spawn(ignore)
        ctx.watch(gone)
        gone.stop()
        ctx.setReceiveTimeout(10)
        const add = (c: typeof ctx, message: unknown): void => {
          try {
            c.stash.add(message as string)
          } catch (cause) {
            errors.push(cause)
          }
        }
        return receive<string>(
          (c) => {
            for (const signal of seen) add(c, signal)
            child.stop()
            return same
          },
          (c, signal) => {
            add(c, signal)
            seen.push(signal)
            return same
          },
        )
      }),
    )
    await kit.advance(10)
    expect(seen.map((s) => s.type)).toEqual(['PreStart', 'PostStart', 'Terminated', 'ChildStopped', 'ReceiveTimeout'])
    ref.tell('later')
    await kit.settle()
    expect(errors).toHaveLength(11)
    for (const error of errors) expect(error).toMatchObject({ code: 'not-allowed', message: expect.stringMatching(/stash.*signal/) as string })
    expect(await kit.checkLedger()).toMatchObject({ sent: 1, handled: 1, stashed: 0 })
    await kit.end()
  })

  test('a message that looks like one is a message, and so is what a signal handler puts aside', async () => {
    type Told = { type: string }
    const kit = createTestKit()
    const handled: string[] = []
    let full = false
    const ref = kit.system.spawn(
      receive<Told>(
        (ctx, m) => {
          if (!full && m.type !== 'open') ctx.stash.add(m)
          else if (m.type === 'open') {
            full = true
            ctx.stash.unstashAll()
          } else handled.push(m.type)
          return same
        },
        (ctx, s) => {
          if (s.type === 'PostStart') ctx.stash.add({ type: 'first' })
          return same
        },
      ),
    )
    for (const type of ['PreStart', 'ReceiveTimeout', 'open']) ref.tell({ type })
    await kit.settle()
    expect(handled).toEqual(['first', 'PreStart', 'ReceiveTimeout'])
    await kit.end()
  })
})

describe("what unstashing has moved and nobody has handled yet is still the stash's", () => {
  type Order = number | 'all' | 'clear' | 'two'
  /** Stashes numbers until told otherwise; `at` says what else it does when a number comes back. */
  const putsAside = (seen: Order[], at: (ctx: ActorContext<Order>, n: number) => void = () => {}): Behavior<Order> => {
    let open = false
    return receive<Order>((ctx, m) => {
      if (m === 'all') {
        open = true
        ctx.stash.unstashAll()
      } else if (m === 'two') {
        open = true
        ctx.stash.unstash(2)
      } else if (m === 'clear') ctx.stash.clear()
      else if (open) {
        seen.push(m)
        at(ctx, m)
      } else ctx.stash.add(m)
      return same
    })
  }
  const kinds: readonly (readonly [string, SpawnOptions])[] = [
    ['the default mailbox', {}],
    ['a bounded one', { mailbox: bounded(100, 'reject') }],
    ['one of priorities', { mailbox: priority(() => 0) }],
    ['a measured one', { metrics: measured() }],
    ['a guarded actor', { middleware: [{ name: 'nothing' }] }],
  ]
  for (const [name, options] of kinds) {
    test(`clear takes it too, and nothing of the mailbox, in ${name}`, async () => {
      const kit = createTestKit()
      const seen: Order[] = []
      const ref = kit.system.spawn(
        putsAside(seen, (ctx, n) => {
          if (n === 2) ctx.stash.clear()
        }),
        options,
      )
      for (const n of [1, 2, 3, 4]) ref.tell(n)
      ref.tell('all')
      // The same numbers, behind it: these were never stashed.
      for (const n of [3, 4]) ref.tell(n)
      await kit.settle()
      expect(seen).toEqual([1, 2, 3, 4])
      expect(await kit.system.ledger()).toMatchObject({ dropped: 2, queued: 0, stashed: 0 })
      await kit.checkLedger()
      await kit.end()
    })
  }
  test('clear in the handler that has unstashed drops all of it, whatever was queued before', async () => {
    const kit = createTestKit()
    const seen: Order[] = []
    const ref = kit.system.spawn(
      receive<Order>((ctx, m) => {
        if (typeof m === 'number' && m < 10) ctx.stash.add(m)
        else if (m === 'all') {
          ctx.stash.unstashAll()
          ctx.stash.clear()
        } else seen.push(m)
        return same
      }),
    )
    for (const n of [1, 2, 3]) ref.tell(n)
    ref.tell('all')
    ref.tell(10)
    await kit.settle()
    expect(seen).toEqual([10])
    expect(await kit.system.ledger()).toMatchObject({ dropped: 3 })
    await kit.end()
  })
  test('unstash(n) brings back the n oldest; the others stay, in order', async () => {
    const kit = createTestKit()
    const seen: Order[] = []
    const sizes: number[] = []
    const ref = kit.system.spawn(
      putsAside(seen, (ctx) => {
        sizes.push(ctx.stash.size)
      }),
    )
    for (const n of [1, 2, 3]) ref.tell(n)
    ref.tell('two')
    ref.tell(9)
    await kit.settle()
    expect(seen).toEqual([1, 2, 9])
    expect(sizes).toEqual([1, 1, 1])
    ref.tell('two')
    await kit.settle()
    expect(seen).toEqual([1, 2, 9, 3])
    await kit.end()
  })
  test('unstashed one by one they keep their order, also within one handler', async () => {
    const kit = createTestKit()
    const seen: Order[] = []
    const ref = kit.system.spawn(
      receive<Order>((ctx, m) => {
        if (typeof m === 'number' && ctx.stash.size < 3 && seen.length === 0 && m < 4) ctx.stash.add(m)
        else if (m === 'two') {
          ctx.stash.unstash(1)
          ctx.stash.unstash(1)
          seen.push('two')
        } else if (m === 'all') ctx.stash.unstashAll()
        else seen.push(m)
        return same
      }),
    )
    for (const n of [1, 2, 3]) ref.tell(n)
    ref.tell('two')
    ref.tell('all')
    await kit.settle()
    expect(seen).toEqual(['two', 1, 2, 3])
    await kit.end()
  })
  test('unstash refuses what is not a whole number from 0 on', async () => {
    const kit = createTestKit()
    const refused: unknown[] = []
    const ref = kit.system.spawn(
      receive<number>((ctx, n) => {
        try {
          ctx.stash.unstash(n)
        } catch (cause) {
          refused.push((cause as { code: string }).code)
        }
        return same
      }),
    )
    for (const n of [-1, 1.5, NaN, 0, 3]) ref.tell(n)
    await kit.settle()
    expect(refused).toEqual(['invalid-option', 'invalid-option', 'invalid-option'])
    await kit.end()
  })
})
