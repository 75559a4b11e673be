// Deleting events waits for projections: nothing that one has not handled is gone, and one that misses something says so.

import type { ActorRef } from '@troupe/core'
import {
  eventSourced,
  type Journal,
  type Kind,
  listProjections,
  memory,
  projection,
  removeProjection,
  surveyJournals,
  takeSnapshot,
  trimEvents,
} from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { environment } from './contract/stage.ts'
import { kitWith } from './counter.ts'

type Counter = { type: 'add' } | { type: 'get'; replyTo: ActorRef<number> }
const kindOf = (name: string): Kind<Counter> =>
  eventSourced(name, {
    initial: () => 0,
    events: { added: (n) => n + 1 },
    commands: { add: (ctx) => ctx.persist({ type: 'added' }), get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
    snapshotEvery: 5,
    keepEvents: 0,
  })
const counter = kindOf('counter')
const other = kindOf('other')

async function add(kit: TestKit, ref: ActorRef<Counter>, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    ref.tell({ type: 'add' })
    await kit.settle()
  }
}
/** A projection whose work waits until a test lets it go on. */
function slow(
  name: string,
  options: { kind?: Kind<Counter>; batch?: number; onDeleted?: 'skip' } = {},
): {
  behavior: ReturnType<typeof projection>
  seen: number[]
  go: () => void
} {
  let open: (() => void) | undefined
  let isOpen = false
  const seen: number[] = []
  const behavior = projection({
    name,
    from: { kind: options.kind ?? counter },
    batch: options.batch ?? 3,
    onDeleted: options.onDeleted,
    async handle(events) {
      if (!isOpen) await new Promise<void>((resolve) => (open = resolve))
      seen.push(...events.map(({ seq }) => seq))
    },
  })
  return {
    behavior,
    seen,
    go: () => {
      isOpen = true
      open?.()
    },
  }
}
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('keepEvents deletes nothing that a projection has not handled, says who holds it back, and goes on when that has caught up', async () => {
  const source = memory()
  const kit = kitWith(source)
  const { behavior, seen, go } = slow('totals')
  kit.system.spawn(behavior)
  const ref = kit.system.spawn(counter('a'))
  await add(kit, ref, 23)
  expect(source.headOf('counter/a')).toMatchObject({ seq: 23, deleted: 0 })
  expect(surveyJournals(kit.system)[0]!.retention).toMatchObject([{ projection: 'totals', actors: 1, events: 15 }])
  // An entity type that it does not read is trimmed as before.
  await add(kit, kit.system.spawn(other('a')), 12)
  expect(source.headOf('other/a').deleted).toBe(5)
  go()
  await kit.settle()
  expect(seen).toEqual(numbers(1, 23))
  // By itself, though no further snapshot comes.
  await kit.advance(31_000)
  expect(source.headOf('counter/a')).toMatchObject({ deleted: 15 })
  expect(surveyJournals(kit.system)[0]!.retention).toEqual([])
  await kit.end()
})

test('trimEvents waits for projections too, by name; removing one releases what it held back', async () => {
  const source = memory()
  const kit = kitWith(source)
  const { behavior } = slow('totals')
  const view = kit.system.spawn(behavior)
  const kind = kindOf('counter')
  const ref = kit.system.spawn(kind('a'))
  await add(kit, ref, 12)
  await takeSnapshot(kit.system, kind, 'a')
  await expect(trimEvents(kit.system, kind, 'a', { upTo: 6 })).rejects.toMatchObject({
    code: 'retention-refused',
    message: expect.stringContaining('projection totals has handled them up to 0, and not up to 6; let it catch up, or remove it') as string,
  })
  kit.system.kill(view)
  await kit.settle()
  const journal = await source.open(environment)
  expect(await listProjections(journal)).toEqual([{ projection: 'totals', kind: 'counter', tag: undefined, offset: undefined }])
  expect(await removeProjection(journal, 'totals')).toBe(true)
  expect(await trimEvents(kit.system, kind, 'a', { upTo: 6 })).toBe(6)
  await journal.close()
  await kit.end()
})

test('a projection that begins after events were deleted fails for good, and begins with what is left where it is told to', async () => {
  const source = memory()
  const kit = kitWith(source)
  await add(kit, kit.system.spawn(counter('a')), 12)
  expect(source.headOf('counter/a').deleted).toBe(5)
  const late = slow('late')
  late.go()
  const ref = kit.system.spawn(late.behavior)
  await kit.advance(60_000)
  expect([kit.system.phaseOf(ref), late.seen]).toEqual(['terminated', []])
  const failed = kit.logs.find(({ level }) => level === 'error')
  expect(failed!.fields['cause']).toMatchObject({ code: 'events-deleted', projection: 'late', id: 'counter/a', seq: 1 })
  // Nor does the next start go on without them.
  const again = slow('late')
  again.go()
  const second = kit.system.spawn(again.behavior)
  await kit.advance(1000)
  expect([kit.system.phaseOf(second), again.seen]).toEqual(['terminated', []])
  const rest = slow('late', { onDeleted: 'skip' })
  rest.go()
  kit.system.spawn(rest.behavior)
  await kit.settle()
  expect(rest.seen).toEqual(numbers(6, 12))
  await kit.end()
})

test('a projection from which events were deleted while it runs fails for good, also at its next start', async () => {
  const source = memory()
  const kit = kitWith(source)
  const kind: Kind<Counter> = eventSourced('counter', {
    initial: () => 0,
    events: { added: (n) => n + 1 },
    commands: { add: (ctx) => ctx.persist({ type: 'added' }), get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
  })
  const { behavior, seen, go } = slow('totals')
  const view = kit.system.spawn(behavior)
  const ref = kit.system.spawn(kind('a'))
  await add(kit, ref, 12)
  // By a hand that asks no projection.
  const journal: Journal = await source.open(environment)
  const epoch = await journal.epoch('default')
  expect(await journal.deleteEvents('counter/a', 7, { scope: 'default', epoch })).toEqual({ is: 'stored' })
  go()
  await kit.advance(1000)
  expect([kit.system.phaseOf(view), seen]).toEqual(['terminated', [1]])
  const again = slow('totals')
  again.go()
  const second = kit.system.spawn(again.behavior)
  await kit.advance(1000)
  expect([kit.system.phaseOf(second), again.seen]).toEqual(['terminated', []])
  await journal.close()
  await kit.end()
})

test('names of projections that begin with $ are reserved', () => {
  expect(() => projection({ name: '$reads/x', handle: () => undefined })).toThrow(/reserved/)
})
