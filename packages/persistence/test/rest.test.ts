// What an actor keeps while it has nothing to do: `npm run bench:persistence -- --only idle` has the bytes.

import type { ActorRef } from '@troupe/core'
import { cellOf } from '@troupe/core/internal'
import { durableState, eventSourced, type Journal, type JournalSource, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { counter, kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Settings = { type: 'set'; to: number }
const settings: Kind<Settings> = durableState('settings', { initial: () => 0, commands: { set: (ctx, m) => ctx.set(m.to) } })

type Pictured = { type: 'inc' } | { type: 'get'; replyTo: ActorRef<number> }
const pictured: Kind<Pictured> = eventSourced('pictured', {
  initial: () => 0,
  events: { added: (n, _e: object) => n + 1 },
  commands: {
    inc: (ctx) => ctx.persist({ type: 'added' }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
  snapshotEvery: 2,
})

test('an actor at rest has no extras, and shares its options with those of its kind that were spawned alike', async () => {
  const kit = kitWith(memory())
  const refs = ['a', 'b'].map((key) => kit.system.spawn(counter(key), { name: key }))
  const kept = ['a', 'b'].map((key) => kit.system.spawn(settings(key)))
  const other = kit.system.spawn(counter('c'), { stopTimeout: 7 })
  for (const ref of [...refs, other]) ref.tell({ type: 'inc', by: 1 })
  for (const ref of kept) ref.tell({ type: 'set', to: 1 })
  await kit.settle()
  const cells = [...refs, ...kept, other].map((ref) => cellOf(ref)!)
  expect(cells.map(({ extras }) => extras)).toEqual(cells.map(() => undefined))
  const [a, b, c, d, e] = cells.map(({ options }) => options)
  expect(a).toBe(b)
  expect(c).toBe(d)
  expect([a!.kind, c!.kind]).toEqual(['counter', 'settings'])
  expect([a!.stopTimeout, e!.stopTimeout]).toEqual([5000, 7])
  await kit.end()
})

test('one that is watched keeps what that takes, and its watchers hear of its end', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(counter('a'))
  const probe = kit.probe()
  probe.watch(ref)
  ref.tell({ type: 'inc', by: 1 })
  await kit.settle()
  kit.system.stop(ref)
  await kit.settle()
  await probe.expectTerminated(ref)
  await kit.end()
})

test('one that was at rest holds what it sends, and fails and recovers, as before', async () => {
  const journal = heldJournal()
  const kit = kitWith(journal)
  const ref = kit.system.spawn(counter('a'))
  for (let i = 0; i < 2; i++) {
    ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    await journal.waiting[0]!.end('store')
    await kit.settle()
  }
  const answer = ref.ask({ type: 'add', by: 1 }, { timeout: 1e6 })
  const failed = answer.then(
    () => 'answered',
    (cause: { code: string }) => cause.code,
  )
  await kit.settle()
  expect(journal.waiting).toHaveLength(1)
  await journal.waiting[0]!.end('fail')
  await kit.advance(1000)
  expect(await failed).toBe('persist-failed')
  journal.through = true
  const read = ref.ask({ type: 'get' })
  await kit.settle()
  expect(await read).toBe(2)
  await kit.end()
})

test('one whose snapshot is kept while it writes does not come to rest before that is durable', async () => {
  const journal = heldJournal()
  let kept = (): void => undefined
  const late = new Promise<void>((resolve) => (kept = resolve))
  const source: JournalSource = {
    ...journal,
    async open(environment) {
      const inner = await journal.open(environment)
      const saveSnapshot: Journal['saveSnapshot'] = async (write) => {
        await late
        return inner.saveSnapshot(write)
      }
      return new Proxy(inner, { get: (target, name) => (name === 'saveSnapshot' ? saveSnapshot : (Reflect.get(target, name) as unknown)) })
    },
  }
  const kit = kitWith(source)
  const ref = kit.system.spawn(pictured('a'))
  for (let i = 0; i < 2; i++) ref.tell({ type: 'inc' })
  await kit.settle()
  await journal.waiting[0]!.end('store')
  await kit.settle()
  ref.tell({ type: 'inc' })
  await kit.settle()
  kept()
  await kit.settle()
  await journal.waiting[0]!.end('store')
  journal.through = true
  const read = ref.ask({ type: 'get' }, { timeout: 1000 })
  await kit.advance(2000)
  await expect(read).resolves.toBe(3)
  await kit.end()
})
