// The way to shards: in order, whoever owns them next; and what waits while nobody can have it is bounded.

import type { SystemCore } from '@troupe/core/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Mail } from '../../src/node/post.ts'
import { Backlog } from '../../src/sharding/backlog.ts'
import { Fifo } from '../../src/sharding/fifo.ts'
import { type Letter, letterFor, readItem } from '../../src/sharding/letter.ts'
import { Routes } from '../../src/sharding/routes.ts'
import type { RoutesHost } from '../../src/sharding/routes-host.ts'
import type { Session } from '../../src/values/session.ts'

const self: Session = { node: 'a', number: 1 }
const other: Session = { node: 'b', number: 2 }
const third: Session = { node: 'c', number: 3 }
const mebibyte = 1_048_576

/** Routes of one shard on a node that knows `other` once it is told so. */
function stage(): {
  routes: Routes
  backlog: Backlog
  buried: string[]
  sent: string[]
  barriers: { readonly via: string; readonly token: number }[]
  ends: { readonly of: string; readonly to: string; readonly known: () => void }[]
  looks: () => number
  members: Set<string>
} {
  const barriers: { via: string; token: number }[] = []
  const ends: { of: string; to: string; known: () => void }[] = []
  const buried: string[] = []
  const sent: string[] = []
  const members = new Set<string>()
  const backlog = new Backlog()
  let looks = 0
  let lot = 0
  const credits = {
    open: () => ++lot,
    close: () => {},
    originOf: (of: number) => ({ session: 'a#1', lot: of }),
    isOwn: () => true,
    taken: () => {},
  } as never
  const host: RoutesHost = {
    core: {
      runtime: { now: () => 0 },
    } as unknown as SystemCore,
    refuse: (_letter, reason) => void buried.push(reason),
    post: {
      pass: (_to: Session, mail: Mail) => {
        const came = readItem(mail, undefined)!
        if (came.item.is === 'letter') sent.push(came.item.id)
        return 10
      },
      isOpen: () => true,
      send: (to: Session, mail: Mail) => {
        const came = readItem(mail, undefined)!
        if (came.item.is !== 'barrier') return true
        if (came.item.origin === 'a#1') barriers.push({ via: to.node, token: came.item.token })
        else sent.push(`barrier ${came.item.token}`)
        return true
      },
    } as never,
    self,
    lease: 3_000,
    backlog,
    credits,
    flushed: () => {},
    watchers: {} as never,
    offerHere: (_shard, _id, offer) => offer.send(),
    isMember: ({ node }) => members.has(node),
    endKnown: (session, to) => new Promise((resolve) => void ends.push({ of: session.node, to: to.node, known: () => resolve(true) })),
    deliver: () => {},
    lookAt: () => void looks++,
  }
  return { routes: new Routes('cart', 1, host), backlog, buried, sent, barriers, ends, looks: () => looks, members }
}

const letter = (id: string, message: unknown = 1): Letter => letterFor(id, message, undefined, 1, undefined)

test('K1: what follows a change of owner waits until a barrier has come by the way of what went before', () => {
  const { routes, sent, barriers, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: other, epoch: 1 })
  routes.take(0, letter('first'))
  expect(sent).toEqual(['first'])
  routes.owned(0, { session: third, epoch: 2 })
  routes.take(0, letter('second'))
  expect(sent).toEqual(['first'])
  expect(barriers).toEqual([{ via: 'b', token: 1 }])
  // One of the past says nothing.
  routes.ready(0, 0)
  expect(sent).toEqual(['first'])
  routes.ready(0, 1)
  expect(sent).toEqual(['first', 'second'])
  routes.take(0, letter('third'))
  expect(sent).toEqual(['first', 'second', 'third'])
})

test('K1: what has arrived at an owner may be moved on by it: the next change of owner is waited for, too', () => {
  const { routes, sent, barriers, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: other, epoch: 1 })
  routes.take(0, letter('first'))
  routes.owned(0, { session: third, epoch: 2 })
  routes.ready(0, 1)
  // Nothing was sent to c by this node, and yet c has what was first, in a mailbox.
  routes.owned(0, { session: other, epoch: 3 })
  routes.take(0, letter('second'))
  expect(sent).toEqual(['first'])
  expect(barriers.at(-1)).toEqual({ via: 'c', token: 2 })
  routes.ready(0, 2)
  expect(sent).toEqual(['first', 'second'])
})

test('K1: what was in a mailbox of this node and went to the next owner is not overtaken on its way to the one after that', () => {
  const { routes, sent, barriers, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: self, epoch: 1 })
  routes.owned(0, { session: other, epoch: 2 }, [letter('had')])
  routes.owned(0, { session: third, epoch: 3 })
  routes.take(0, letter('next'))
  expect(sent).toEqual(['had'])
  expect(barriers).toEqual([{ via: 'b', token: 1 }])
  routes.ready(0, 1)
  expect(sent).toEqual(['had', 'next'])
})

test('K1: what an owner passed on before it ended may arrive late: what follows waits until the next owner knows of that end', async () => {
  const { routes, sent, barriers, ends, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: other, epoch: 1 })
  routes.take(0, letter('first'))
  routes.owned(0, { session: third, epoch: 2 })
  routes.take(0, letter('second'))
  expect(barriers).toHaveLength(1)
  members.delete('b')
  routes.ended(other)
  expect(sent).toEqual(['first'])
  expect(ends.map(({ of, to }) => `${of} to ${to}`)).toEqual(['b to c'])
  expect(routes.isSettled(0, 2)).toBe(false)
  ends[0]!.known()
  await Promise.resolve()
  expect(sent).toEqual(['first', 'second'])
  expect(routes.isSettled(0, 2)).toBe(true)
  // What went to an owner that has ended is nowhere else.
  members.delete('c')
  routes.ended(third)
  routes.owned(0, { session: other, epoch: 3 })
  expect(ends).toHaveLength(1)
})

test('K1: what others sent by this node is waited for, too, before the shard may move on', () => {
  const { routes, sent, barriers, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: other, epoch: 1 })
  expect(routes.isSettled(0, 1)).toBe(true)
  expect(routes.isSettled(0, 2)).toBe(false)
  routes.came(0, 1, letter('passed on'))
  routes.owned(0, { session: third, epoch: 2 })
  expect(barriers).toEqual([{ via: 'b', token: 1 }])
  expect(routes.isSettled(0, 2)).toBe(false)
  // It is not kept back meanwhile.
  routes.came(0, 2, letter('next'))
  expect(sent).toEqual(['passed on', 'next'])
  routes.ready(0, 1)
  expect(routes.isSettled(0, 2)).toBe(true)
})

test('K1: what a shard had goes on before the barriers that came while it moved', () => {
  const { routes, sent, members } = stage()
  members.add('b').add('c')
  routes.owned(0, { session: self, epoch: 1 })
  // From one that knows more: it is behind what this node had, and says so to whoever waits for it.
  routes.came(0, 2, { is: 'barrier', origin: 'c#3', token: 9 })
  routes.came(0, 2, letter('later'))
  routes.owned(0, { session: other, epoch: 2 }, [letter('had')])
  expect(sent).toEqual(['had', 'barrier 9', 'later'])
})

test('K6: what others pass by a node that knows no owner is bounded; more are dead letters no-owner, and what waited goes on in order', () => {
  const { routes, backlog, buried, sent, looks, members } = stage()
  for (let n = 0; n < 80; n++) routes.came(0, 5, letter(`passing-${n}`, new Uint8Array(mebibyte)))
  expect(looks()).toBe(80)
  expect(buried).toEqual(Array.from({ length: 17 }, () => 'no-owner'))
  expect(backlog.bytes).toBeLessThanOrEqual(64 * mebibyte)
  expect(routes.waiting).toBe(63)
  // What the own actors send shares that room.
  routes.take(0, letter('own', new Uint8Array(mebibyte)))
  expect(buried).toHaveLength(18)
  members.add('b')
  routes.owned(0, { session: other, epoch: 5 })
  expect(sent).toEqual(Array.from({ length: 63 }, (_, n) => `passing-${n}`))
  expect(backlog.bytes).toBe(0)
  expect(routes.waiting).toBe(0)
})

test('what never left and what a shard had go first, in the order in which they were', () => {
  const { routes, backlog, sent, members } = stage()
  routes.take(0, letter('own'))
  routes.came(0, 1, letter('passing'))
  for (const id of ['returned-1', 'returned-2']) routes.returned(0, letter(id))
  routes.leave(0, [letter('left-1'), letter('left-2')])
  expect(routes.waiting).toBe(6)
  members.add('b')
  routes.owned(0, { session: other, epoch: 2 })
  expect(sent).toEqual(['left-1', 'left-2', 'returned-1', 'returned-2', 'passing', 'own'])
  expect(backlog.bytes).toBe(0)
})

test('what waits is let go of when there is no cluster any more', () => {
  const { routes, backlog, buried } = stage()
  routes.take(0, letter('own'))
  routes.came(0, 1, letter('passing'))
  routes.returned(0, letter('returned'))
  routes.close()
  expect(buried).toEqual(['no-owner', 'no-owner', 'no-owner'])
  expect(backlog.bytes).toBe(0)
})

test('what was here already is never refused, and others are for its sake', () => {
  const backlog = new Backlog()
  const large = Array.from({ length: 70 }, () => letter('left', new Uint8Array(mebibyte)))
  for (const one of large) backlog.keep(one)
  expect(backlog.bytes).toBeGreaterThan(70 * mebibyte)
  expect(backlog.hasRoom).toBe(false)
  // It counts once, wherever it waits next.
  expect(large.every((one) => backlog.admit(one))).toBe(true)
  expect(backlog.admit(letter('new'))).toBe(false)
  for (const one of large) backlog.release(one)
  expect(backlog.bytes).toBe(0)
  const last = letter('new', () => {})
  expect(backlog.admit(last)).toBe(true)
  backlog.release(last)
})

test('a Fifo is an array of which the first is taken', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('push' as const), items: fc.array(fc.nat(), { maxLength: 5 }) }),
    fc.record({ do: fc.constant('prepend' as const), items: fc.array(fc.nat(), { maxLength: 5 }) }),
    fc.record({ do: fc.constant('shift' as const), items: fc.constant([]) }),
    fc.record({ do: fc.constant('drain' as const), items: fc.constant([]) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const fifo = new Fifo<number>()
      let array: number[] = []
      for (const { do: what, items } of steps) {
        if (what === 'push') for (const item of items) array.push((fifo.push(item), item))
        else if (what === 'prepend') fifo.prepend((array.unshift(...items), items))
        else if (what === 'shift') expect(fifo.shift()).toBe(array.shift())
        else {
          expect(fifo.drain()).toEqual(array)
          array = []
        }
        expect(fifo.length).toBe(array.length)
        expect(fifo.first).toBe(array[0])
        expect([...fifo]).toEqual(array)
      }
    }),
  )
})
