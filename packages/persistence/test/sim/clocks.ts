// Timers that outlive their actors, on a journal that misbehaves: each is set under a key of its own, and says when it rang. What the
// journal has says whether it was early, twice or never: P11.

import { type ActorRef, entities } from '@troupe/core'
import { type CommandContext, durableState, type DurableTimers, eventSourced, type Kind, type StateContext } from '@troupe/persistence'
import type { LibraryScenario, Simulation } from '@troupe/testkit/internal'
import { journalIn, journalled } from './stage.ts'

type Clock =
  | { type: 'set'; key: string; timer: string; ms: number; fails: boolean }
  | { type: 'move'; key: string; timer: string; ms: number }
  | { type: 'cancel'; key: string; timer: string }
  | { type: 'ring'; key: string; timer: string }

/** What happened, in order, as the actor keeps it. */
interface Entry {
  readonly is: 'set' | 'moved' | 'cancelled' | 'rang'
  readonly timer: string
  readonly due: number
  readonly at: number
}

/** What both styles do. */
interface Doing {
  readonly now: number
  note(entry: Entry): void
  readonly timers: DurableTimers<Clock>
}

function act(sim: Simulation, ctx: Doing, m: Clock): void {
  const { timer } = m
  const at = ctx.now
  switch (m.type) {
    case 'set':
      ctx.timers.once(timer, m.ms, { type: 'ring', key: m.key, timer })
      ctx.note({ is: 'set', timer, due: at + m.ms, at })
      if (m.fails) throw new Error('thought better of it')
      return
    case 'move':
      if (!ctx.timers.has(timer)) return
      ctx.timers.once(timer, m.ms, { type: 'ring', key: m.key, timer })
      return ctx.note({ is: 'moved', timer, due: at + m.ms, at })
    case 'cancel':
      if (!ctx.timers.has(timer)) return
      ctx.timers.cancel(timer)
      return ctx.note({ is: 'cancelled', timer, due: 0, at })
    case 'ring':
      ctx.note({ is: 'rang', timer, due: 0, at })
      if (sim.now < 600 && sim.choose(5) === 4) throw new Error('not now')
  }
}

const add = (entries: readonly Entry[], e: Entry): readonly Entry[] => [...entries, { is: e.is, timer: e.timer, due: e.due, at: e.at }]

function clockOf(sim: Simulation, style: 'events' | 'state', snapshotEvery: number): Kind<Clock> {
  const initial = (): readonly Entry[] => []
  if (style === 'state') {
    const doing = (ctx: StateContext<readonly Entry[], Clock>, m: Clock): void =>
      act(sim, { now: ctx.now, timers: ctx.timers, note: (entry) => ctx.set(add(ctx.state, entry)) }, m)
    return durableState('clock', { initial, commands: { set: doing, move: doing, cancel: doing, ring: doing } })
  }
  const doing = (ctx: CommandContext<readonly Entry[], { readonly type: 'noted' } & Entry, Clock>, m: Clock): void =>
    act(sim, { now: ctx.now, timers: ctx.timers, note: (entry) => ctx.persist({ type: 'noted', ...entry }) }, m)
  return eventSourced('clock', {
    initial,
    events: { noted: (entries, e: Entry) => add(entries, e) },
    commands: { set: doing, move: doing, cancel: doing, ring: doing },
    snapshotEvery,
  })
}

/** Where clocks are, in each run. */
const places = new WeakMap<object, { find(key: string): ActorRef<Clock> | undefined }>()

export const clocks: LibraryScenario = {
  name: 'persistence timers',
  about:
    'timers are set, moved and cancelled, and ring once and never early, though their actors fail, sleep and are killed, and the journal refuses',
  options: {
    duration: 800,
    grace: 40_000,
    maxSteps: 80_000,
    faults: 'none',
    system: {
      extensions: [
        journalled((system) => {
          const place: { find(key: string): ActorRef<Clock> | undefined } = { find: () => undefined }
          places.set(system, place)
          return { find: (_kind, key) => place.find(key) }
        }),
      ],
    },
  },
  run(sim) {
    const journal = journalIn(sim)
    const style = sim.oneOf(['events', 'state'] as const)
    const kind = clockOf(sim, style, sim.oneOf([0, 2, 5]))
    const keys = ['a', 'b'].slice(0, sim.int(1, 2))
    const entries = (key: string): readonly Entry[] => {
      if (style === 'events')
        return journal
          .eventsOf(`clock/${key}`)
          .map(({ data }) => JSON.parse(data) as Entry & { type: string })
          .filter(({ type }) => type === 'noted')
      const data = journal.headOf(`clock/${key}`).state?.data
      if (data === undefined) return []
      const read = JSON.parse(data) as { s?: string } | Entry[]
      return Array.isArray(read) ? read : read.s === undefined ? [] : (JSON.parse(read.s) as Entry[])
    }
    // Actors that sleep after a while, or that stay until somebody stops them.
    const idle = sim.oneOf([40, 5000])
    const router = sim.system.spawn(entities<Clock>({ keyOf: (m) => m.key, create: (key) => kind(key), idle }))
    places.get(sim.system)!.find = () => (sim.now < 600 && sim.choose(5) === 4 ? undefined : router)
    Object.assign(journal.faults, {
      delay: sim.oneOf([10, 0, 50]),
      fail: sim.oneOf([0, 0.2]),
      unknown: sim.oneOf([0, 0.2]),
      read: sim.oneOf([0, 0.1]),
    })
    sim.after(600, () => void Object.assign(journal.faults, { fail: 0, unknown: 0, read: 0, delay: 0 }))
    sim.always(() => {
      for (const key of keys) {
        const due = new Map<string, number>()
        for (const { is, timer, due: set, at } of entries(key)) {
          if (is === 'set' || is === 'moved') due.set(timer, set)
          else if (is === 'cancelled') due.delete(timer)
          else if (!due.has(timer)) return sim.violate('invariant', `P11: timer ${timer} of ${key} rang, and was not set, or rang already`)
          else if (at < due.get(timer)!)
            return sim.violate('invariant', `P11: timer ${timer} of ${key} rang at ${at}, and was due at ${due.get(timer)}`)
          else due.delete(timer)
        }
      }
    })
    let made = 0
    sim.plan(sim.int(1, 16), () => {
      const key = sim.oneOf(keys)
      const timer = `t${sim.int(1, Math.max(1, made))}`
      switch (sim.choose(8)) {
        case 4:
          return router.tell({ type: 'move', key, timer, ms: sim.oneOf([0, 60, 900]) })
        case 5:
          return router.tell({ type: 'cancel', key, timer })
        case 6:
          return sim.system.restart(router)
        default:
          return router.tell({ type: 'set', key, timer: `t${++made}`, ms: sim.oneOf([0, 5, 70, 400, 2000]), fails: sim.choose(6) === 5 })
      }
    })
    sim.eventually('every timer that was set has rung', () =>
      keys.every((key) => {
        const open = new Set<string>()
        for (const { is, timer } of entries(key))
          if (is === 'set' || is === 'moved') open.add(timer)
          else open.delete(timer)
        return open.size === 0
      }),
    )
  },
}
