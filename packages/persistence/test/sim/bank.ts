// Money between accounts, by deliveries that are lost and doubled on the way: what was taken from one arrives at the other, once, in order.

import type { ActorRef, AnyRef } from '@troupe/core'
import { durableState, eventSourced, type Kind } from '@troupe/persistence'
import type { LibraryScenario, Simulation } from '@troupe/testkit/internal'
import { journalIn, journalled } from './stage.ts'

type Account = { type: 'pay'; to: string; coin: number; fails?: boolean } | { type: 'take'; coin: number; from: string }

/** Kept as a whole: what was paid and taken, in order. Where it doubts, it throws what it took away. */
function stateAccount(doubts: () => boolean): Kind<Account> {
  const kind: Kind<Account> = durableState('account', {
    initial: (): readonly Entry[] => [],
    commands: {
      pay(ctx, m) {
        ctx.update((entries) => [...entries, { type: 'paid', coin: m.coin, to: m.to, from: '' }])
        ctx.deliver(kind, m.to, { type: 'take', coin: m.coin, from: ctx.key })
        if (m.fails === true) throw new Error('thought better of it')
      },
      take(ctx, m) {
        ctx.update((entries) => [...entries, { type: 'taken', coin: m.coin, from: m.from, to: '' }])
        if (doubts()) throw new Error('not now')
      },
    },
  })
  return kind
}

const account = (snapshotEvery: number, doubts: () => boolean): Kind<Account> => {
  const kind: Kind<Account> = eventSourced('account', {
    initial: (): readonly number[] => [],
    events: {
      paid: (coins, e: { coin: number; to: string }) => [...coins, -e.coin],
      taken: (coins, e: { coin: number; from: string }) => [...coins, e.coin],
    },
    commands: {
      pay(ctx, m) {
        ctx.persist({ type: 'paid', coin: m.coin, to: m.to })
        ctx.deliver(kind, m.to, { type: 'take', coin: m.coin, from: ctx.key })
        if (m.fails === true) throw new Error('thought better of it')
      },
      take(ctx, m) {
        ctx.persist({ type: 'taken', coin: m.coin, from: m.from })
        if (doubts()) throw new Error('not now')
      },
    },
    snapshotEvery,
  })
  return kind
}

interface Entry {
  readonly type: string
  readonly coin: number
  readonly from: string
  readonly to: string
}

/** What a state's record says, with or without mail beside it. */
function entriesIn(data: string | undefined): readonly Entry[] {
  if (data === undefined) return []
  const read = JSON.parse(data) as { readonly s?: string } | readonly Entry[]
  if ('length' in read) return read
  return read.s === undefined ? [] : (JSON.parse(read.s) as Entry[])
}

interface Bank {
  readonly refs: Map<string, ActorRef<Account>>
  sim: Simulation | undefined
  /** Makes an actor that has ended anew, where those that sleep are woken. */
  wake: ((key: string) => void) | undefined
}

/** Who has which key, in each run. */
const banks = new WeakMap<object, Bank>()

export const bank: LibraryScenario = {
  name: 'persistence deliveries',
  about: 'what one actor delivers to another has its effect once and in order, though it is lost, doubled, refused and begun anew',
  options: {
    duration: 800,
    grace: 30_000,
    maxSteps: 80_000,
    faults: 'none',
    system: {
      extensions: [
        journalled((system) => {
          const own: Bank = { refs: new Map(), sim: undefined, wake: undefined }
          banks.set(system, own)
          return {
            redeliverEvery: 200,
            find(_kind, key) {
              own.wake?.(key)
              const ref = own.refs.get(key) as AnyRef | undefined
              const fate = own.sim === undefined || own.sim.now > 600 ? 0 : own.sim.choose(6)
              if (fate === 4 || ref === undefined) return undefined
              return fate === 5 ? ({ tell: (m: never) => [ref.tell(m), ref.tell(m)] } as unknown as AnyRef) : ref
            },
          }
        }),
      ],
    },
  },
  run(sim) {
    const own = banks.get(sim.system)!
    own.sim = sim
    const { refs } = own
    const journal = journalIn(sim)
    const style = sim.oneOf(['events', 'state'] as const)
    const doubts = (): boolean => sim.now < 600 && sim.choose(8) === 7
    const kind = style === 'state' ? stateAccount(doubts) : account(sim.oneOf([0, 2, 5]), doubts)
    const keys = ['a', 'b', 'c'].slice(0, sim.int(2, 3))
    const reopen = (key: string): void => void refs.set(key, sim.system.spawn(kind(key), sim.choose(3) === 2 ? { supervision: 'resume' } : {}))
    for (const key of keys) reopen(key)
    const gone = (key: string): boolean => sim.system.phaseOf(refs.get(key)!) === 'terminated'
    // Those that ended are made anew by whoever looks for them, as entities are; or by nobody, for a while.
    if (sim.choose(2) === 1) own.wake = (key) => void (gone(key) && reopen(key))
    Object.assign(journal.faults, { delay: sim.oneOf([10, 0, 50]), fail: sim.oneOf([0, 0.2]), unknown: sim.oneOf([0, 0.2]) })
    sim.after(600, () => void Object.assign(journal.faults, { fail: 0, unknown: 0, delay: 0 }))
    const entries = (key: string): readonly Entry[] => {
      const id = `account/${key}`
      if (style === 'state') return entriesIn(journal.headOf(id).state?.data)
      return journal
        .eventsOf(id)
        .map(({ data }) => JSON.parse(data) as Entry)
        .filter(({ type }) => !type.startsWith('$'))
    }
    const taken = (key: string, from: string): number[] => entries(key).flatMap((e) => (e.type === 'taken' && e.from === from ? [e.coin] : []))
    const paid = (key: string, to: string): number[] => entries(key).flatMap((e) => (e.type === 'paid' && e.to === to ? [e.coin] : []))
    sim.always(() => {
      for (const from of keys)
        for (const to of keys) {
          const [out, into] = [paid(from, to), taken(to, from)]
          if (into.some((coin, i) => out[i] !== coin))
            sim.violate('invariant', `P10: ${from} paid ${to} [${out.join(' ')}], which took [${into.join(' ')}]`)
        }
    })
    let coin = 0
    sim.plan(sim.int(1, 20), () => {
      const key = sim.oneOf(keys)
      const ref = refs.get(key)!
      if (gone(key)) return own.wake === undefined ? reopen(key) : undefined
      switch (sim.choose(9)) {
        case 6:
          return sim.system.kill(ref)
        case 7:
          return sim.system.restart(ref)
        case 8:
          return ref.stop()
        default:
          return ref.tell({ type: 'pay', to: sim.oneOf(keys.filter((other) => other !== key)), coin: ++coin, fails: sim.choose(6) === 5 })
      }
    })
    if (own.wake === undefined)
      for (const at of [9000, 16_000])
        sim.after(at, () => {
          for (const key of keys) if (gone(key)) reopen(key)
        })
    sim.eventually('everything that was paid was taken', () =>
      keys.every((from) => keys.every((to) => paid(from, to).join(' ') === taken(to, from).join(' '))),
    )
  },
}
