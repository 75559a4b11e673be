// Whoever has something to do gets a turn: no message waits for the next one to come and wake its actor.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorContext, bounded, type MailboxKind, priority, receive, same, setup, type SpawnOptions, unbounded } from '@troupe/core'

type Note = { readonly n: number }

const mailboxes: readonly (readonly [string, MailboxKind | undefined])[] = [
  ['its own', undefined],
  ['an unbounded one', unbounded()],
  ['a bounded one', bounded(10_000, 'reject')],
  ['one by priority', priority<Note>((a, b) => a.n - b.n)],
]

/** More than a turn holds, whatever is set. */
const many = 5000

test.each(mailboxes)('a signal handler may tell its actor more than a turn holds, and all is handled, in %s mailbox', async (_name, mailbox) => {
  const kit = createTestKit()
  const seen: number[] = []
  const watcher = kit.system.spawn(
    setup<Note>((ctx) => {
      ctx.watch(
        ctx.spawn(
          receive<never>(() => same),
          { name: 'child' },
        ),
      )
      return receive<Note>(
        (_c, { n }) => {
          seen.push(n)
          return same
        },
        (c, signal) => {
          if (signal.type === 'Terminated') for (let n = 0; n < many; n++) c.self.tell({ n })
          return same
        },
      )
    }),
    { name: 'watcher', mailbox } as SpawnOptions,
  )
  await kit.settle()
  kit.system.stop(kit.system.find('/user/watcher/child')!)
  await kit.settle()
  expect(seen).toEqual(Array.from({ length: many }, (_, n) => n))
  expect(kit.system.phaseOf(watcher)).toBe('running')
  await kit.end()
})

test.each(mailboxes)('what is taken out of the stash outside of any turn is handled, in %s mailbox', async (_name, mailbox) => {
  const kit = createTestKit()
  const seen: number[] = []
  let open = false
  let context: ActorContext<Note> | undefined
  const ref = kit.system.spawn(
    receive<Note>((ctx, m) => {
      context = ctx
      if (open) seen.push(m.n)
      else ctx.stash.add(m)
      return same
    }),
    { name: 'gate', mailbox } as SpawnOptions,
  )
  for (let n = 0; n < 3; n++) ref.tell({ n })
  await kit.settle()
  expect((await kit.system.ledger()).stashed).toBe(3)
  open = true
  // As a callback of the host would: nobody's turn, and nothing else on its way to this actor.
  context!.stash.unstashAll()
  await kit.settle()
  expect(seen).toEqual([0, 1, 2])
  await kit.end()
})
