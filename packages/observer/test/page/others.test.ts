// What the real cluster and the real journals tell of themselves is what Runtime shows: the doors are known by name alone, so nobody but a test
// notices when one of them is called otherwise.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, memory as wires } from '@troupe/cluster'
import { type ActorRef, ActorSystem, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory, persistence, sqliteJournal } from '@troupe/persistence'
import { expect, test, vi } from 'vitest'
import type { FeedFrame } from '../../src/feed/frames.ts'
import type { PagePart, TablePart } from '../../src/feed/parts.ts'
import { feed, openPage } from './client.ts'

type Counter = { type: 'add'; by: number; replyTo: ActorRef<number> }
const counter: Kind<Counter> = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e: { by: number }) => n + e.by },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', by: m.by })
      ctx.tell(m.replyTo, ctx.state)
    },
  },
})

/** Waits until what Runtime shows of other packages is as expected: a node of a cluster hears of the others a moment after it has joined. */
async function expectShown(system: ActorSystem, expected: (parts: readonly PagePart[]) => void): Promise<void> {
  const page = await openPage(system)
  let parts: readonly PagePart[] = []
  const stream = feed(page, 'runtime', (frames) => {
    parts = frames.findLast((frame): frame is Extract<FeedFrame, { kind: 'round' }> => frame.kind === 'round')?.round.runtime?.others ?? []
    return false
  })
  try {
    await vi.waitFor(() => expected(parts), { timeout: 30_000 })
  } finally {
    await page.close()
    await stream
  }
}
/** The first row of a table, by column. */
function rowOf(parts: readonly PagePart[], title: string): Readonly<Record<string, unknown>> {
  const table = parts.find((part): part is TablePart => part.kind === 'table' && part.title === title)
  if (table === undefined) throw new Error(`There is no table ${title}.`)
  return Object.fromEntries(table.columns.map((column, i) => [column, table.rows[0]![i]]))
}

test('a journal in memory and one of SQLite show what they wrote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-others-'))
  try {
    for (const journal of [memory(), sqliteJournal(join(folder, 'data', 'shop.db'))]) {
      const system = ActorSystem.create('shop', { logger: false, askTimeout: 30_000, extensions: [persistence({ journal })] })
      const ref = system.spawn(counter('42'))
      expect(await ref.ask({ type: 'add', by: 2 })).toBe(2)
      expect(await ref.ask({ type: 'add', by: 3 })).toBe(5)
      await expectShown(system, (parts) =>
        expect(rowOf(parts, 'Journals')).toMatchObject({
          phase: '✓ open',
          actors: 1,
          writing: 0,
          commits: 2,
          events: 2,
          failed: 0,
          recovered: 1,
          circuit: '✓ closed',
        }),
      )
      await system.shutdown()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('two nodes of a cluster, and what is sharded over them', async () => {
  const engine = wires()
  const systems = ['a', 'b'].map((node) => ActorSystem.create(node, { logger: false, askTimeout: 30_000 }))
  const clusters = await Promise.all(systems.map((system) => Cluster.join(system, { name: 'shops', node: system.name, engine })))
  const greeters = clusters.map((cluster) =>
    cluster.sharded('greeter', (id) =>
      receive<{ type: 'greet'; replyTo: ActorRef<string> }>((_ctx, m) => {
        m.replyTo.tell(id)
        return same
      }),
    ),
  )
  expect(await greeters[0]!.ref('anna').ask({ type: 'greet' })).toBe('anna')
  await expectShown(systems[0]!, (parts) => {
    const nodes = parts.find((part): part is TablePart => part.title === 'Nodes of shops')
    expect(nodes?.rows.map(([node, lease]) => `${node} ${lease}`).toSorted()).toEqual(['a (this one) ✓ up', 'b ✓ up'])
    expect(rowOf(parts, 'Sharded actors on this node')).toMatchObject({ kind: 'greeter', shards: expect.any(Number), 'messages that wait': 0 })
  })
  for (const cluster of clusters) await cluster.leave()
  for (const system of systems) await system.shutdown()
})
