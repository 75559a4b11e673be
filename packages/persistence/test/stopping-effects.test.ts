// Effects that wait when their actor stops: what was registered before the stop runs, in order, and then the actor stops.

import { type ActorRef, delay, entities, passivate, stopped } from '@troupe/core'
import { DurableState, durableState, EventSourced, eventSourced, type Kind, type Leaving, memory } from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { kitWith } from './counter.ts'
import { type HeldJournal, heldJournal } from './held-journal.ts'

/** What happened, in order. */
let seen: string[] = []

type Order =
  | { type: 'place'; key: string; stops?: boolean }
  | { type: 'end'; key: string }
  | { type: 'leave'; key: string }
  | { type: 'fail'; key: string }
  | { type: 'slow'; key: string }
  | { type: 'throw'; key: string }
  | { type: 'child'; key: string }

interface Placing extends Leaving<Order> {
  persist(): void
}
const commands = {
  place(ctx: Placing, m: { stops?: boolean }) {
    ctx.persist()
    ctx.after(() => void seen.push('first'))
    ctx.after(() => void seen.push('second'))
    if (m.stops === true) ctx.stop()
  },
  end: (ctx: Placing) => ctx.stop(),
  // What the compiler refuses, a program in JavaScript does all the same.
  leave(ctx: Placing) {
    ctx.after(() => void seen.push('left'))
    return stopped as never
  },
  fail(ctx: Placing) {
    ctx.persist()
    ctx.after(() => {
      seen.push('threw')
      throw new Error('no')
    })
    ctx.after(() => void seen.push('after it'))
    ctx.stop()
  },
  throw() {
    throw new Error('no')
  },
  slow(ctx: Placing) {
    ctx.persist()
    ctx.after(async (c) => {
      await delay(50, { clock: c.system.clock })
      seen.push('slow')
    })
    ctx.after(() => void seen.push('after it'))
    ctx.stop()
  },
  child(ctx: Placing) {
    ctx.persist()
    ctx.after((c) => {
      c.spawn(passivate(counter('below'), { after: 1 }))
      seen.push('spawned')
    })
    ctx.stop()
  },
}
const counter: Kind<{ type: 'x' }> = durableState('counter', { initial: () => 0, commands: { x: () => undefined } })

const events: Kind<Order> = eventSourced('order', {
  initial: () => 0,
  events: { placed: (n) => n + 1 },
  commands: Object.fromEntries(
    Object.entries(commands).map(([name, command]) => [
      name,
      (ctx: { persist(event: object): void }, m: never) => command({ ...bound(ctx), persist: () => ctx.persist({ type: 'placed' }) } as never, m),
    ]),
  ) as never,
})
const state: Kind<Order> = durableState('order', {
  initial: () => 0,
  commands: Object.fromEntries(
    Object.entries(commands).map(([name, command]) => [
      name,
      (ctx: { update(change: (n: number) => number): void }, m: never) =>
        command({ ...bound(ctx), persist: () => ctx.update((n) => n + 1) } as never, m),
    ]),
  ) as never,
})
function bound(ctx: object): object {
  const own = ctx as Leaving<Order>
  return { after: own.after.bind(own), stop: own.stop.bind(own) }
}

/** A kit whose journal waits, with an actor that has started. */
async function begun(kind: Kind<Order>): Promise<{ kit: TestKit; journal: HeldJournal; ref: ActorRef<Order> }> {
  seen = []
  const journal = heldJournal()
  const kit = kitWith(journal)
  const ref = kit.system.spawn(kind('1'))
  await kit.settle()
  return { kit, journal, ref }
}
async function ended(kit: TestKit, ref: ActorRef<Order>): Promise<void> {
  await kit.advance(100)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(kit.logs.filter(({ message }) => message === 'a dead letter')).toEqual([])
}

for (const [style, kind] of [
  ['of events', events],
  ['of a durable state', state],
] as const)
  describe(style, () => {
    test('the command stops that registered them', async () => {
      const { kit, journal, ref } = await begun(kind)
      ref.tell({ type: 'place', key: '1', stops: true })
      await kit.settle()
      expect(seen).toEqual([])
      await journal.waiting[0]!.end('store')
      await ended(kit, ref)
      expect(seen).toEqual(['first', 'second'])
      await kit.end()
    })

    test('the next command stops, during the write or after it', async () => {
      for (const during of [true, false]) {
        const { kit, journal, ref } = await begun(kind)
        journal.through = !during
        ref.tell({ type: 'place', key: '1' })
        ref.tell({ type: 'end', key: '1' })
        await kit.settle()
        if (during) await journal.waiting[0]!.end('store')
        await ended(kit, ref)
        expect(seen).toEqual(['first', 'second'])
        await kit.end()
      }
    })

    test('it is stopped from outside during the write, or when they wait for their turn', async () => {
      for (const during of [true, false]) {
        const { kit, journal, ref } = await begun(kind)
        ref.tell({ type: 'place', key: '1' })
        await kit.settle()
        if (!during) await journal.waiting[0]!.end('store')
        ref.stop()
        await kit.settle()
        if (during) await journal.waiting[0]!.end('store')
        await ended(kit, ref)
        expect(seen).toEqual(['first', 'second'])
        await kit.end()
      }
    })

    test('the command returns stopped', async () => {
      const { kit, ref } = await begun(kind)
      ref.tell({ type: 'leave', key: '1' })
      await ended(kit, ref)
      expect(seen).toEqual(['left'])
      await kit.end()
    })

    test('an effect throws: it is logged, and the next one runs', async () => {
      const { kit, journal, ref } = await begun(kind)
      journal.through = true
      ref.tell({ type: 'fail', key: '1' })
      await ended(kit, ref)
      expect(seen).toEqual(['threw', 'after it'])
      kit.expectLog('an effect of an actor that stops failed')
      await kit.end()
    })

    test('an effect takes its time: the next one, and the end, wait for it', async () => {
      const { kit, journal, ref } = await begun(kind)
      journal.through = true
      ref.tell({ type: 'slow', key: '1' })
      await kit.advance(40)
      expect([seen, kit.system.phaseOf(ref)]).toEqual([[], 'running'])
      await ended(kit, ref)
      expect(seen).toEqual(['slow', 'after it'])
      await kit.end()
    })

    test('an effect may spawn before the actor stops that its command stopped', async () => {
      const { kit, journal, ref } = await begun(kind)
      journal.through = true
      ref.tell({ type: 'child', key: '1' })
      await ended(kit, ref)
      expect(seen).toEqual(['spawned'])
      await kit.end()
    })

    test('it begins anew, and the stop comes before the next incarnation is up', async () => {
      const { kit, journal, ref } = await begun(kind)
      ref.tell({ type: 'place', key: '1' })
      await kit.settle()
      await journal.waiting[0]!.end('store')
      kit.system.restart(ref)
      ref.stop()
      await kit.advance(100)
      expect([seen, kit.system.phaseOf(ref)]).toEqual([['first', 'second'], 'terminated'])
      await kit.end()
    })

    test('a command fails meanwhile, and it is stopped', async () => {
      const { kit, journal, ref } = await begun(kind)
      ref.tell({ type: 'place', key: '1' })
      ref.tell({ type: 'throw', key: '1' })
      await kit.settle()
      ref.stop()
      await journal.waiting[0]!.end('store')
      await kit.advance(100)
      expect([seen, kit.system.phaseOf(ref)]).toEqual([['first', 'second'], 'terminated'])
      await kit.end()
    })

    test('the write fails: they do not run, and those of commands that are stored do', async () => {
      const { kit, journal, ref } = await begun(kind)
      ref.tell({ type: 'place', key: '1' })
      await kit.settle()
      ref.tell({ type: 'fail', key: '1' })
      await kit.settle()
      ref.stop()
      await kit.settle()
      await journal.waiting[0]!.end('store')
      await kit.settle()
      await journal.waiting[0]!.end('fail')
      await kit.advance(100)
      expect(seen).toEqual(['first', 'second'])
      expect(kit.system.phaseOf(ref)).toBe('terminated')
      await kit.end()
    })

    test('the write of the only command fails: nothing runs', async () => {
      const { kit, journal, ref } = await begun(kind)
      ref.tell({ type: 'place', key: '1', stops: true })
      await kit.settle()
      ref.stop()
      await kit.settle()
      await journal.waiting[0]!.end('fail')
      await kit.advance(100)
      expect(seen).toEqual([])
      await kit.end()
    })

    test('it is put to sleep by entities', async () => {
      seen = []
      const journal = heldJournal()
      journal.through = true
      const kit = kitWith(journal)
      const router = kit.system.spawn(entities<Order>({ keyOf: (m) => m.key, create: (key) => kind(key), idle: 10 }))
      router.tell({ type: 'place', key: 'a' })
      router.tell({ type: 'place', key: 'b', stops: true })
      await kit.advance(1000)
      expect(seen).toEqual(['first', 'second', 'first', 'second'])
      journal.through = false
      router.tell({ type: 'place', key: 'a' })
      await kit.advance(1000)
      expect(seen).toHaveLength(4)
      await journal.waiting[0]!.end('store')
      await kit.advance(1000)
      expect(seen).toHaveLength(6)
      await kit.end()
    })
  })

test('of classes', async () => {
  class Orders extends EventSourced<number, { readonly type: 'placed' }> {
    static readonly persistence = { kind: 'orders' }
    protected initial(): number {
      return 0
    }
    protected apply(n: number): number {
      return n + 1
    }
    place(): void {
      this.persist({ type: 'placed' })
      this.gate.after(() => void seen.push(`placed ${this.state}`))
      this.gate.stop()
    }
    override onStopping(): void {
      seen.push('stopping')
    }
  }
  class Kept extends DurableState<number> {
    static readonly persistence = { kind: 'kept' }
    protected initial(): number {
      return 0
    }
    place(): void {
      this.set(this.state + 1)
      this.gate.after(() => void seen.push(`placed ${this.state}`))
    }
    override onStopping(): void {
      seen.push('stopping')
    }
  }
  seen = []
  const journal = heldJournal()
  const kit = kitWith(journal)
  const orders = kit.system.spawn(Orders, { args: ['1'] })
  await kit.settle()
  orders.tell.place()
  await kit.settle()
  await journal.waiting[0]!.end('store')
  await kit.advance(100)
  const kept = kit.system.spawn(Kept, { args: ['1'] })
  await kit.settle()
  kept.tell.place()
  await kit.settle()
  kept.stop()
  await kit.settle()
  await journal.waiting[0]!.end('store')
  await kit.advance(100)
  expect(seen).toEqual(['placed 1', 'stopping', 'placed 1', 'stopping'])
  expect([kit.system.phaseOf(orders), kit.system.phaseOf(kept)]).toEqual(['terminated', 'terminated'])
  await kit.end()
})

test('an effect whose actor resumes, and cannot read the journal, runs once it can', async () => {
  seen = []
  const source = memory()
  const kit = kitWith(source)
  type Note = { type: 'note' } | { type: 'spoil' }
  const kind: Kind<Note> = eventSourced('note', {
    initial: () => ({ n: 0 }),
    events: {
      noted(s) {
        s.n++
        return s
      },
    },
    commands: {
      note(ctx) {
        ctx.persist({ type: 'noted' })
        ctx.after(() => void seen.push('noted'))
      },
      // Changes the state in place and throws: what the journal has is read again before anything else is handled.
      spoil(ctx) {
        ctx.persist({ type: 'noted' })
        throw new Error('no')
      },
    },
  })
  const ref = kit.system.spawn(kind('1'), { supervision: 'resume' })
  await kit.settle()
  ref.tell({ type: 'note' })
  ref.tell({ type: 'spoil' })
  source.faults.read = 1
  await kit.advance(500)
  expect(seen).toEqual([])
  source.faults.read = 0
  await kit.advance(5000)
  expect(seen).toEqual(['noted'])
  await kit.end()
})

test('an effect that is left to the next incarnation sees what is stored', async () => {
  const states: number[] = []
  const journal = heldJournal()
  const kit = kitWith(journal)
  const kind: Kind<{ type: 'note' }> = eventSourced('note', {
    initial: () => 0,
    events: { noted: (n) => n + 1 },
    commands: {
      note(ctx) {
        ctx.persist({ type: 'noted' })
        ctx.after(() => void states.push(ctx.state))
      },
    },
  })
  const ref = kit.system.spawn(kind('1'))
  await kit.settle()
  ref.tell({ type: 'note' })
  await kit.settle()
  ref.tell({ type: 'note' })
  await kit.settle()
  await journal.waiting[0]!.end('store')
  await kit.settle()
  // The second write fails, and the journal cannot be read then: the effect of the first has to wait for the next incarnation.
  journal.inner.faults.read = 1
  await journal.waiting[0]!.end('fail')
  await kit.advance(5)
  expect(states).toEqual([])
  journal.inner.faults.read = 0
  journal.through = true
  await kit.advance(60_000)
  expect(states).toEqual([1])
  await kit.end()
})

test('what a killed actor had not run is lost', async () => {
  const { kit, journal, ref } = await begun(events)
  ref.tell({ type: 'place', key: '1' })
  await kit.settle()
  kit.system.kill(ref)
  await kit.settle()
  await journal.waiting[0]!.end('store')
  await kit.advance(100)
  expect(seen).toEqual([])
  await kit.end()
})
