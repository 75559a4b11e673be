// The pure parts of sharding: who should own a shard, what is claimed and handed over, and that no interleaving of nodes with views of the
// past gives a shard two owners in one epoch or an epoch that goes back.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Store } from '../../src/engines/memory/store.ts'
import { decideActivations, decideClaims, handedOver, planHandOvers, type ShardSeen } from '../../src/sharding/claims.ts'
import { candidatesOf, desiredOwner, shardOf } from '../../src/sharding/desired.ts'
import { nextEpoch, type Ownership, ownKey, readOwnership, shardIn, writeOwnership } from '../../src/sharding/ownership.ts'
import { VirtualTiming } from '../../src/testing/virtual-timing.ts'
import { RegistryConflict } from '../../src/values/errors.ts'
import type { Member } from '../../src/values/member.ts'
import type { Session } from '../../src/values/session.ts'

const member = (node: string, roles: readonly string[] = []): Member => ({
  session: { node, number: 1 },
  roles,
  wire: { oldest: 1, newest: 1 },
  maxMessageBytes: 1,
})
const nodeNames = fc.uniqueArray(fc.stringMatching(/^[a-z0-9-]{1,12}$/), { minLength: 1, maxLength: 12 })

test('every node computes the same owner, in whatever order it learned of the others', () => {
  fc.assert(
    fc.property(nodeNames, fc.nat(1_023), (nodes, shard) => {
      const owner = desiredOwner('cart', shard, candidatesOf(nodes.map((n) => member(n))))
      expect(nodes).toContain(owner)
      expect(desiredOwner('cart', shard, candidatesOf(nodes.toReversed().map((n) => member(n))))).toBe(owner)
    }),
  )
})

test('when a node comes or goes only its own share moves', () => {
  fc.assert(
    fc.property(nodeNames, fc.nat(), (nodes, which) => {
      const gone = nodes[which % nodes.length]!
      const all = candidatesOf(nodes.map((n) => member(n)))
      const rest = all.filter(({ node }) => node !== gone)
      for (let shard = 0; shard < 128; shard++) {
        const owner = desiredOwner('cart', shard, all)
        const after = desiredOwner('cart', shard, rest)
        if (owner !== gone) expect(after).toBe(owner)
        else if (rest.length > 0) expect(after).not.toBe(gone)
        else expect(after).toBeUndefined()
      }
    }),
  )
})

test('shares are even: of 1,024 shards each of eight nodes has its eighth, within a third', () => {
  const candidates = candidatesOf(Array.from({ length: 8 }, (_, i) => member(`node-${i}`)))
  for (const kind of ['cart', 'room', 'user']) {
    const counts = new Map<string, number>()
    for (let shard = 0; shard < 1_024; shard++) {
      const owner = desiredOwner(kind, shard, candidates)!
      counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
    for (const count of counts.values()) expect(Math.abs(count - 128)).toBeLessThan(128 / 3)
    expect(counts.size).toBe(8)
  }
  const ids = new Map<number, number>()
  for (let i = 0; i < 128_000; i++) ids.set(shardOf(`id-${i}`, 128), (ids.get(shardOf(`id-${i}`, 128)) ?? 0) + 1)
  expect(ids.size).toBe(128)
  for (const count of ids.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200)
})

test('only those with the role are candidates', () => {
  expect(candidatesOf([member('b', ['api', 'web']), member('a', ['web']), member('c')], 'web').map(({ node }) => node)).toEqual(['a', 'b'])
})

test('an epoch is greater than all that registry and journal know of', () => {
  const epoch = fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined })
  fc.assert(
    fc.property(epoch, epoch, (registry, journal) => {
      const next = nextEpoch(registry, journal)
      for (const known of [registry ?? 0, journal ?? 0]) expect(next).toBeGreaterThan(known)
    }),
  )
})

test('ownership is read as it was written; what is none is undefined', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/), fc.integer({ min: 1 }), fc.integer({ min: 1 }), (node, number, epoch) => {
      const owner = { session: { node, number }, epoch }
      expect(readOwnership(writeOwnership(owner))).toEqual(owner)
    }),
  )
  for (const text of [
    '',
    'null',
    '{}',
    '{"node":"a.b","number":1,"epoch":1}',
    '{"node":"a","number":1,"epoch":0}',
    '{"node":"a","number":-1,"epoch":1}',
  ])
    expect(readOwnership(text)).toBeUndefined()
  expect(shardIn('cart', ownKey('cart', 7), 8)).toBe(7)
  for (const key of ['own.cart.8', 'own.cart.07', 'own.cart.', 'own.carts.1', 'own.cart.1.2', 'own.cart.-1'])
    expect(shardIn('cart', key, 8)).toBeUndefined()
})

const self: Session = { node: 'a', number: 5 }
const session = fc.record({ node: fc.constantFrom('a', 'b', 'c'), number: fc.integer({ min: 4, max: 6 }) })
const seen = fc
  .record({
    owner: fc.option(fc.record({ session, epoch: fc.integer({ min: 1, max: 9 }) }), { nil: undefined }),
    revision: fc.integer({ min: 1, max: 99 }),
  })
  .map(({ owner, revision }): Omit<ShardSeen, 'shard'> => ({ owner, revision: owner === undefined ? undefined : revision }))
const view = fc.array(seen, { maxLength: 16 }).map((list): ShardSeen[] => list.map((one, shard) => ({ ...one, shard })))

test('a shard is claimed where it should be ours and its owner has ended, and nowhere else', () => {
  fc.assert(
    fc.property(view, fc.func(fc.constantFrom('a', 'b', undefined)), fc.func(fc.boolean()), fc.boolean(), (shards, desired, over, held) => {
      const ended = (s: Session): boolean => over(s.node, s.number)
      const claims = decideClaims({ self, shards, desired, ended, held })
      if (!held) expect(claims).toEqual([])
      for (const one of shards) {
        const claim = claims.find(({ shard }) => shard === one.shard)
        const ours = one.owner?.session.node === 'a' && one.owner.session.number === 5
        const due = held && desired(one.shard) === 'a' && (one.owner === undefined || (!ours && ended(one.owner.session)))
        expect(claim !== undefined).toBe(due)
        if (claim !== undefined)
          expect(claim).toEqual({ shard: one.shard, expected: one.revision, record: { session: self, epoch: (one.owner?.epoch ?? 0) + 1 } })
      }
    }),
  )
})

test('at most so many shards are handed over at once, each of ours, to one that lives and should have it', () => {
  fc.assert(
    fc.property(
      view,
      fc.func(fc.constantFrom('a', 'b', 'c', undefined)),
      fc.uniqueArray(fc.nat(15)),
      fc.integer({ min: 1, max: 6 }),
      (shards, desired, under, limit) => {
        const underWay = new Set(under)
        const sessionOf = (node: string): Session | undefined => (node === 'c' ? undefined : { node, number: 6 })
        const plan = planHandOvers({ self, shards, desired }, sessionOf, underWay, limit)
        expect(plan.length + underWay.size).toBeLessThanOrEqual(Math.max(limit, underWay.size))
        for (const { shard, to } of plan) {
          expect(shards[shard]!.owner!.session).toEqual(self)
          expect([desired(shard), underWay.has(shard)]).toEqual([to.node, false])
          expect(to).toEqual({ node: 'b', number: 6 })
        }
        const left = shards.filter(
          (s) => s.owner?.session.node === 'a' && s.owner.session.number === 5 && desired(s.shard) === 'b' && !underWay.has(s.shard),
        )
        expect(plan).toHaveLength(Math.min(left.length, Math.max(0, limit - underWay.size)))
      },
    ),
  )
})

test('what runs is exactly what is owned, in its epoch', () => {
  fc.assert(
    fc.property(view, fc.array(fc.tuple(fc.nat(15), fc.integer({ min: 1, max: 9 }))), (shards, running) => {
      const active = new Map(running)
      const { start, stop } = decideActivations(self, shards, active)
      for (const shard of stop) active.delete(shard)
      for (const { shard, epoch } of start) {
        expect(active.has(shard)).toBe(false)
        active.set(shard, epoch)
      }
      const owned = shards.flatMap((s) => (s.owner?.session.node === 'a' && s.owner.session.number === 5 ? [[s.shard, s.owner.epoch] as const] : []))
      expect([...active].sort((x, y) => x[0] - y[0])).toEqual(owned)
    }),
  )
})

test('no interleaving of nodes with views of the past gives two owners one epoch, or an owner that lives a successor it did not choose', () => {
  const step = fc.record({ node: fc.nat(3), do: fc.constantFrom('look', 'look', 'claim', 'claim', 'hand over', 'hand over', 'restart', 'end') })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const shards = 6
      const store = new Store(new VirtualTiming(() => 0.5), () => {})
      const names = ['a', 'b', 'c', 'd']
      const lives = names.map((node) => ({ session: { node, number: 1 }, alive: true, seen: [] as ShardSeen[], others: [] as Session[] }))
      const endedNumbers = new Set<string>()
      const ended = (s: Session): boolean => endedNumbers.has(`${s.node} ${s.number}`)
      const look = (): ShardSeen[] =>
        Array.from({ length: shards }, (_, shard) => {
          const entry = store.read(ownKey('cart', shard))
          return { shard, owner: entry === undefined ? undefined : readOwnership(entry.value), revision: entry?.revision }
        })
      const epochs = new Map<number, Ownership[]>()
      const write = (shard: number, expected: number | undefined, record: Ownership, by: Session): void => {
        const before = look()[shard]!.owner
        try {
          if (expected === undefined) store.create(ownKey('cart', shard), writeOwnership(record), undefined)
          else store.update(ownKey('cart', shard), writeOwnership(record), expected, undefined)
        } catch (cause) {
          expect(cause).toBeInstanceOf(RegistryConflict)
          return
        }
        if (before !== undefined && !ended(before.session)) expect(before.session).toEqual(by)
        const history = epochs.get(shard) ?? []
        expect(record.epoch).toBeGreaterThan(history.at(-1)?.epoch ?? 0)
        epochs.set(shard, [...history, record])
      }
      for (const { node, do: what } of steps) {
        const life = lives[node]!
        if (what === 'restart' && !life.alive) {
          life.session = { node: names[node]!, number: life.session.number + 1 }
          life.alive = true
        } else if (what === 'end' && life.alive) {
          life.alive = false
          endedNumbers.add(`${life.session.node} ${life.session.number}`)
        }
        if (!life.alive) continue
        if (what === 'look') {
          life.seen = look()
          life.others = lives.filter((one) => one.alive).map((one) => one.session)
        }
        const candidates = candidatesOf(life.others.map((s) => ({ session: s, roles: [], wire: { oldest: 1, newest: 1 }, maxMessageBytes: 1 })))
        const desired = (shard: number): string | undefined => desiredOwner('cart', shard, candidates)
        if (what === 'claim')
          for (const claim of decideClaims({ self: life.session, shards: life.seen, desired, ended, held: true }))
            write(claim.shard, claim.expected, claim.record, life.session)
        if (what === 'hand over') {
          const sessionOf = (name: string): Session | undefined => life.others.find((s) => s.node === name)
          for (const { shard, to } of planHandOvers({ self: life.session, shards: life.seen, desired }, sessionOf, new Set(), 2))
            write(shard, life.seen[shard]!.revision, handedOver(life.seen[shard]!.owner!, to), life.session)
        }
      }
      // Whoever is left looks, claims and hands over until all is as it should be.
      const left = lives.filter((one) => one.alive)
      const candidates = candidatesOf(left.map((one) => ({ session: one.session, roles: [], wire: { oldest: 1, newest: 1 }, maxMessageBytes: 1 })))
      const desired = (shard: number): string | undefined => desiredOwner('cart', shard, candidates)
      for (let round = 0; round < 8; round++)
        for (const life of left) {
          for (const claim of decideClaims({ self: life.session, shards: look(), desired, ended, held: true }))
            write(claim.shard, claim.expected, claim.record, life.session)
          const now = look()
          for (const { shard, to } of planHandOvers(
            { self: life.session, shards: now, desired },
            (n) => left.find((one) => one.session.node === n)?.session,
            new Set(),
            2,
          ))
            write(shard, now[shard]!.revision, handedOver(now[shard]!.owner!, to), life.session)
        }
      if (left.length > 0)
        for (const { shard, owner } of look()) expect(owner?.session).toEqual(left.find((one) => one.session.node === desired(shard))!.session)
    }),
    { numRuns: 300 },
  )
})
