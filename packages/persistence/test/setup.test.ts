// Persistent kinds in a setup, as in Akka: the setup has the context, and what it returns is the kind. And signals that such actors hear.

import { type ActorRef, delay, receive, same, setup } from '@troupe/core'
import { cellOf } from '@troupe/core/internal'
import { eventSourced, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Cart = { type: 'add'; replyTo: ActorRef<number> } | { type: 'fail' }
const cart: Kind<Cart> = eventSourced('cart', {
  initial: () => 0,
  events: { added: (n) => n + 1 },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added' })
      ctx.tell(m.replyTo, ctx.state)
    },
    fail() {
      throw new Error('no')
    },
  },
})

for (const [style, wait] of [
  ['at once', undefined],
  ['after a while', 20],
] as const)
  test(`a setup may return a kind, ${style}: it recovers, restarts by the policy of kinds, and has no start timeout`, async () => {
    const source = memory({ faults: { delay: 20_000 } })
    const kit = kitWith(source)
    const starts: string[] = []
    const behavior = setup<Cart>((ctx) => {
      starts.push(ctx.path)
      if (wait === undefined) return cart('1')
      return delay(wait, { clock: ctx.system.clock }).then(() => cart('1'))
    })
    const ref = kit.system.spawn(behavior)
    const asked = ref.ask({ type: 'add' }, { timeout: 1_000_000 })
    await kit.advance(200_000)
    expect(await asked).toBe(1)
    source.faults.delay = 0
    // More often than a limit of the default policy lets an actor begin anew.
    for (let i = 0; i < 20; i++) {
      ref.tell({ type: 'fail' })
      await kit.advance(50)
    }
    const again = ref.ask({ type: 'add' })
    await kit.advance(1000)
    expect([await again, starts.length]).toEqual([2, 21])
    expect(cellOf(ref)!.options.kind).toBe('cart')
    await kit.end()
  })

test('what spawn says of supervision stays; a kind that a handler returns is refused as before', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(
    setup<Cart>(() => cart('1')),
    { supervision: 'stop' },
  )
  ref.tell({ type: 'fail' })
  await kit.advance(1000)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  const late = kit.system.spawn(
    receive<Cart>(() => cart('2')),
    { supervision: 'stop' },
  )
  late.tell({ type: 'fail' })
  await kit.advance(1000)
  expect(kit.logs.find(({ fields }) => (fields['cause'] as { code?: string } | undefined)?.code === 'options-too-late')).toBeDefined()
  await kit.end()
})

test('the signal handler of a setup hears what a persistent actor hears, and what it sends waits for the journal', async () => {
  const journal = heldJournal()
  const kit = kitWith(journal)
  const probe = kit.probe<string>()
  const watched = kit.system.spawn(receive<string>(() => same))
  const ref = kit.system.spawn(
    setup<Cart>(
      (ctx) => {
        ctx.watch(watched)
        return cart('1')
      },
      (_ctx, signal) => {
        probe.ref.tell(signal.type)
        return same
      },
    ),
  )
  await kit.settle()
  probe.messages.length = 0
  const asked = ref.ask({ type: 'add' })
  await kit.settle()
  expect(journal.waiting).toHaveLength(1)
  watched.stop()
  await kit.settle()
  probe.expectNone()
  await journal.waiting[0]!.end('store')
  await kit.settle()
  expect(await asked).toBe(1)
  probe.expect('Terminated')
  ref.stop()
  await kit.settle()
  probe.expect('PreStop')
  journal.through = true
  await kit.end()
})
