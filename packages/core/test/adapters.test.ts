// Adapter refs where an actor's ref would do: asked through a context, forwarded to.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'

type Ask = { type: 'go'; replyTo: ActorRef<number> }
type Foreign = { question: Ask }

const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((cause: unknown) => cause)

/** An actor that takes questions in another shape too, by its adapter. */
const adapting = (kit: TestKit, behavior: Behavior<Ask>, fn: (m: Ask) => Ask = (m) => m): { ref: ActorRef<Ask>; adapter: () => ActorRef<Ask> } => {
  let adapter: ActorRef<Ask> | undefined
  const ref = kit.system.spawn(
    setup<Ask>((ctx) => {
      adapter = ctx.adapt<Ask>(fn, { key: 'a' })
      return behavior
    }),
    { name: 'target' },
  )
  return { ref, adapter: () => adapter! }
}

describe('asking an adapter through a context', () => {
  test('the question ends with the incarnation that asked it', async () => {
    const kit = createTestKit()
    const { adapter } = adapting(
      kit,
      receive<Ask>(() => same),
    )
    let asked: Promise<unknown> | undefined
    const asker = kit.system.spawn(
      receive<'go'>((ctx) => {
        asked = outcome(ctx.ask(adapter(), { type: 'go' }))
        return same
      }),
    )
    await kit.settle()
    asker.tell('go')
    await kit.settle()
    kit.system.restart(asker)
    await kit.settle()
    expect(await asked).toMatchObject({ code: 'cancelled' })
    await kit.end()
  })

  test('what is left of the question in progress bounds it, also after an await', async () => {
    const kit = createTestKit()
    const { adapter } = adapting(
      kit,
      receive<Ask>(() => same),
    )
    let cause: unknown
    const middle = kit.system.spawn(
      receive<Ask>(async (ctx) => {
        await Promise.resolve()
        cause = await outcome(ctx.ask(adapter(), { type: 'go' }))
        return same
      }),
    )
    const asked = outcome(middle.ask({ type: 'go' }, { timeout: 100 }))
    await kit.advance(100)
    expect(await asked).toMatchObject({ code: 'ask-timeout' })
    expect(cause).toMatchObject({ code: 'ask-timeout', timeout: 100 })
    await kit.end()
  })

  test('a cycle through an adapter is refused, also after an await', async () => {
    const kit = createTestKit()
    const cycle: { other?: ActorRef<Ask> } = {}
    const { ref, adapter } = adapting(
      kit,
      receive<Ask>(async (ctx, m) => {
        await Promise.resolve()
        m.replyTo.tell(await ctx.ask(cycle.other!, { type: 'go' }))
        return same
      }),
    )
    cycle.other = kit.system.spawn(
      receive<Ask>(async (ctx, m) => {
        await Promise.resolve()
        m.replyTo.tell(await ctx.ask(adapter(), { type: 'go' }))
        return same
      }),
      { name: 'other' },
    )
    const asked = outcome(ref.ask({ type: 'go' }))
    await kit.settle()
    expect(await asked).toMatchObject({ code: 'deadlock', cycle: ['/user/other', '/user/target', '/user/other'] })
    await kit.end()
  })
})

describe('forwarding to an adapter', () => {
  const forwarding = (to: () => ActorRef<Ask>): Behavior<Ask> =>
    receive<Ask>((ctx) => {
      ctx.forward(to())
      return same
    })

  test('moves the message, with its sender and headers, through the adapter; it is not sent again', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const probe = kit.probe<number>()
    let adapter: ActorRef<Ask> | undefined
    kit.system.spawn(
      setup<Foreign>((ctx) => {
        adapter = ctx.adapt<Ask>((question) => ({ question }))
        return receive<Foreign>((c, m) => {
          seen.push(m.question.type, c.sender, c.headers)
          m.question.replyTo.tell(7)
          return same
        })
      }),
    )
    await kit.settle()
    const middle = kit.system.spawn(forwarding(() => adapter!))
    middle.tell({ type: 'go', replyTo: probe.ref }, { sender: probe.ref, headers: { tenant: 'a' } })
    await kit.settle()
    expect(seen).toEqual(['go', probe.ref, { tenant: 'a' }])
    const asked = middle.ask({ type: 'go' })
    await kit.settle()
    expect(await asked).toBe(7)
    // Two messages to the middle, and two answers; what was forwarded was moved.
    expect(await kit.checkLedger()).toMatchObject({ sent: 4, handled: 4 })
    await kit.end()
  })

  test('a question forwarded to an adapter that has ended, or that throws, is told so', async () => {
    const kit = createTestKit()
    const { ref, adapter } = adapting(
      kit,
      receive<Ask>(() => same),
      () => {
        throw new Error('no fit')
      },
    )
    await kit.settle()
    const middle = kit.system.spawn(forwarding(adapter))
    const failed = outcome(middle.ask({ type: 'go' }))
    await kit.settle()
    expect(await failed).toMatchObject({ message: 'no fit' })
    const old = adapter()
    kit.system.restart(ref)
    await kit.advance(1000)
    const stale = outcome(kit.system.spawn(forwarding(() => old)).ask({ type: 'go' }))
    await kit.settle()
    expect(await stale).toMatchObject({ code: 'ask-refused' })
    expect(kit.system.deadLetters.list()).toMatchObject([{ reason: 'stale-adapter', recipient: old }])
    ref.stop()
    await kit.settle()
    const dead = outcome(kit.system.spawn(forwarding(adapter)).ask({ type: 'go' }))
    await kit.settle()
    expect(await dead).toMatchObject({ code: 'ask-target-stopped' })
    await kit.end()
  })
})
