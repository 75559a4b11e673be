// What somebody may do to sharded actors without meaning harm: messages as large as a frame, mailboxes that are full, circles of questions.

import { type ActorRef, type Behavior, bounded, receive, same, withOptions } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Thing =
  | { readonly type: 'put'; readonly bytes: Uint8Array }
  | { readonly type: 'note'; readonly n: number }
  | { readonly type: 'round'; readonly next: string; readonly depth: number; readonly replyTo: ActorRef<string> }

/** Two nodes, of which `b` has all actors. */
async function far(
  stage: Stage,
  make: (kind: () => Sharded<Thing>) => Behavior<Thing>,
): Promise<{ a: SimulatedNode; b: SimulatedNode; kind: Sharded<Thing> }> {
  const maxMessageBytes = 1_048_576
  stage.world.nodeOptions = (name) => ({ maxMessageBytes, roles: name === 'b' ? ['thing'] : [] })
  const [a, b] = await stage.nodes('a', 'b')
  const kinds: Sharded<Thing>[] = []
  for (const node of [a!, b!])
    kinds.push(node.cluster!.sharded<Thing>('thing', () => make(() => kinds[1]!), { shards: 4, role: 'thing', passivateAfter: false }))
  await stage.until('b has all', () => kinds[1]!.active.length === 4 && kinds[0]!.ownerOf('x') === 'b')
  return { a: a!, b: b!, kind: kinds[0]! }
}

async function addsUp(node: SimulatedNode): Promise<void> {
  const l = await node.cluster!.ledger()
  expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress)
  expect(l.unknown).toBe(0)
}

test('a message as large as a frame arrives, or is a dead letter where it was sent; what follows it arrives', () =>
  onStage(async (stage) => {
    const got: number[] = []
    const { a, kind } = await far(stage, () =>
      receive<Thing>((_ctx, message) => {
        if (message.type === 'put') got.push(message.bytes.length)
        return same
      }),
    )
    const sizes = Array.from({ length: 24 }, (_, i) => 1_048_576 - i * 12)
    for (const size of sizes) {
      kind.ref('x').tell({ type: 'put', bytes: new Uint8Array(size) })
      await stage.wait(100)
    }
    kind.ref('x').tell({ type: 'put', bytes: new Uint8Array(1) })
    await stage.until('the last came', () => got.at(-1) === 1)
    const refused = a.system.deadLetters.list()
    expect(refused.every(({ reason }) => reason === 'not-transferable')).toBe(true)
    expect(refused.length).toBeGreaterThan(0)
    // The smaller ones, all of them and in order.
    expect(got).toEqual([...sizes.slice(refused.length), 1])
    expect(got.length).toBeGreaterThan(1)
    await addsUp(a)
  }))

test('large messages to many actors of a node at once arrive, though together they are more than may be under way', () =>
  onStage(async (stage) => {
    const got = new Map<string, number>()
    const { a, kind } = await far(stage, () =>
      receive<Thing>((ctx, message) => {
        if (message.type === 'put') got.set(ctx.self.path, (got.get(ctx.self.path) ?? 0) + message.bytes.length)
        return same
      }),
    )
    const plain: ActorRef<Thing>[] = []
    for (let i = 0; i < 12; i++) {
      const node = stage.world.up.find(({ node: name }) => name === 'b')!
      node.system.spawn(
        receive<Thing>((ctx, message) => {
          if (message.type === 'put') got.set(ctx.self.path, (got.get(ctx.self.path) ?? 0) + message.bytes.length)
          return same
        }),
        { name: `plain-${i}` },
      )
      plain.push((await a.cluster!.find('b', `/user/plain-${i}`)) as ActorRef<Thing>)
    }
    stage.world.hub.cut('a', 'b', true)
    for (let n = 0; n < 3; n++) for (const ref of [...plain, kind.ref('x'), kind.ref('y')]) ref.tell({ type: 'put', bytes: new Uint8Array(700_000) })
    await stage.wait(500)
    stage.world.hub.cut('a', 'b', false)
    await stage.until('all came', () => got.size === 14 && [...got.values()].every((bytes) => bytes === 2_100_000))
    await addsUp(a)
  }))

for (const overflow of ['reject', 'drop-oldest', 'block'] as const)
  test(`a sharded actor whose mailbox is full (${overflow}) costs what its mailbox holds, and everything is accounted for`, () =>
    onStage(async (stage) => {
      let go = (): void => {}
      const held = new Promise<void>((resolve) => (go = resolve))
      const got: number[] = []
      const { a, b, kind } = await far(stage, () =>
        withOptions(
          receive<Thing>(async (_ctx, message) => {
            await held
            if (message.type === 'note') got.push(message.n)
            return same
          }),
          { mailbox: bounded(5, overflow) },
        ),
      )
      let taken = 0
      for (let n = 0; n < 50; n++)
        void kind
          .ref('x')
          .offer({ type: 'note', n })
          .then(() => taken++)
      await stage.wait(2_000)
      const waits = overflow === 'block'
      // One is handled, 5 are in the mailbox, and up to 8 wait in front of one that blocks.
      if (waits) expect(taken).toBeLessThanOrEqual(6 + 8)
      else expect(taken).toBe(50)
      expect((await b.system.ledger()).queued).toBeLessThanOrEqual(waits ? 5 + 8 : 5)
      await addsUp(a)
      go()
      await stage.wait(1_000)
      // All may have come before its first turn, or one of them after that.
      expect(waits ? [50] : [5, 6]).toContain(got.length)
      expect(got).toEqual(got.toSorted((x, y) => x - y))
      await addsUp(a)
    }))

test('a circle of questions over two nodes ends by their times, and the actors go on', () =>
  onStage(async (stage) => {
    const nodes = await stage.nodes('a', 'b')
    const kinds: Sharded<Thing>[] = []
    const make = (on: number) => (): Behavior<Thing> =>
      receive<Thing>(async (ctx, message) => {
        if (message.type !== 'round') return same
        const { next, depth, replyTo } = message
        if (depth === 0) replyTo.tell('end')
        else
          replyTo.tell(
            await ctx.ask(kinds[on]!.ref(next), { type: 'round', next, depth: depth - 1 }, { timeout: 1_000 }).catch((cause) => cause.code),
          )
        return same
      })
    for (const [i, node] of nodes.entries()) kinds.push(node.cluster!.sharded<Thing>('thing', make(i), { shards: 16 }))
    await stage.until('all run', () => kinds[0]!.active.length + kinds[1]!.active.length === 16)
    const names = Array.from({ length: 40 }, (_, i) => `id-${i}`)
    const here = names.find((id) => kinds[0]!.ownerOf(id) === 'a')!
    const there = names.find((id) => kinds[0]!.ownerOf(id) === 'b')!
    // here asks there, which asks itself: it waits for itself until that is over.
    const answer = await kinds[0]!.ref(here).ask({ type: 'round', next: there, depth: 3 }, { timeout: 5_000 })
    expect(['ask-timeout', 'ask-deadlock', 'deadlock']).toContain(answer)
    await stage.wait(2_000)
    expect(await kinds[0]!.ref(there).ask({ type: 'round', next: here, depth: 1 }, { timeout: 3_000 })).toBe('end')
    await addsUp(nodes[0]!)
  }))
