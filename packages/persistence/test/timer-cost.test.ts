// What one of many durable timers costs: counted, in steps over maps and in bytes of snapshots, of which a clock knows nothing.

import { eventSourced, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Alarm = { type: 'set'; n: number } | { type: 'ring' }
const alarms: Kind<Alarm> = eventSourced('alarm', {
  initial: () => 0,
  events: { rang: (n) => n + 1 },
  commands: {
    set: (ctx, m) => ctx.timers.once(`t${m.n}`, 1_000_000, { type: 'ring' }),
    ring: (ctx) => ctx.persist({ type: 'rang' }),
  },
})

/** How many entries maps were given or asked for in order, and how many bytes snapshots had, for each timer that was set and rang. */
async function costOf(count: number): Promise<{ entries: number; bytes: number }> {
  let [entries, bytes] = [0, 0]
  const inner = memory()
  const kit = kitWith({
    ...inner,
    name: inner.name,
    async open(environment) {
      const journal = await inner.open(environment)
      const save = journal.saveSnapshot.bind(journal)
      return Object.assign(journal, {
        saveSnapshot: (write: Parameters<typeof save>[0]) => {
          bytes += write.data.length
          return save(write)
        },
      })
    },
  })
  const ref = kit.system.spawn(alarms('1'))
  await kit.settle()
  const prototype: object = Map.prototype
  const real = Object.getOwnPropertyDescriptor(prototype, 'set')!
  const set = real.value as (this: unknown, key: unknown, value: unknown) => unknown
  const counting = function (this: unknown, key: unknown, value: unknown): unknown {
    entries++
    return set.call(this, key, value)
  }
  Object.defineProperty(prototype, 'set', { ...real, value: counting })
  try {
    for (let n = 0; n < count; n++) ref.tell({ type: 'set', n })
    await kit.settle()
    await kit.advance(2_000_000)
  } finally {
    Object.defineProperty(prototype, 'set', real)
  }
  expect(inner.headOf('alarm/1').seq).toBe(3 * count)
  await kit.end()
  return { entries: entries / count, bytes: bytes / count }
}
test('20,000 timers of one actor cost at most one and a half times as much each as 1,000', async () => {
  const [few, many] = [await costOf(1000), await costOf(20_000)]
  expect(many.entries / few.entries).toBeLessThan(1.5)
  // A snapshot has all timers: with many of them it is taken as often as it is worth.
  expect(many.bytes / few.bytes).toBeLessThan(1.5)
})
