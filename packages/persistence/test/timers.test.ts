// Timers that outlive their actor: P11. What is refused, lost and killed on the way is the simulator's affair.

import { type ActorRef, delay, entities, receive, same } from '@troupe/core'
import { DurableState, durableState, EventSourced, eventSourced, type Kind, memory, type MemorySource } from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { environment } from './contract/stage.ts'
import { kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Clock =
  | { type: 'once'; key: string; ms: number }
  | { type: 'at'; key: string; time: number }
  | { type: 'every'; key: string; ms: number }
  | { type: 'cancel'; key: string }
  | { type: 'change mind'; key: string }
  | { type: 'rang'; key: string }
  | { type: 'get'; replyTo: ActorRef<readonly string[]> }

let fails = 0
const events = { rung: (before: readonly string[], e: { key: string; at: number }) => [...before, `${e.key}@${e.at}`] }
const clock: Kind<Clock> = eventSourced('clock', {
  initial: (): readonly string[] => [],
  events,
  commands: {
    once: (ctx, m) => ctx.timers.once(m.key, m.ms, { type: 'rang', key: m.key }),
    at: (ctx, m) => ctx.timers.at(m.key, m.time, { type: 'rang', key: m.key }),
    every: (ctx, m) => ctx.timers.every(m.key, m.ms, { type: 'rang', key: m.key }),
    cancel: (ctx, m) => ctx.timers.cancel(m.key),
    'change mind'(ctx, m) {
      ctx.timers.once(m.key, 5, { type: 'rang', key: 'never' })
      ctx.timers.cancelAll()
      throw new Error('thought better of it')
    },
    rang(ctx, m) {
      ctx.persist({ type: 'rung', key: m.key, at: ctx.now })
      if (fails > 0) {
        fails--
        throw new Error('not now')
      }
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
  snapshotEvery: 3,
})

/** Sets the timer of an actor that sleeps for another time, as a clock that was wrong would have. */
async function moveTimer(source: MemorySource, byEvents: boolean, due: number): Promise<void> {
  const journal = await source.open(environment)
  const epoch = await journal.epoch('default')
  const [{ seq, state } = { seq: 0, state: undefined }] = await journal.heads(['clock/x'])
  const timers = [{ key: 'a', due }]
  const owner = { scope: 'default', epoch }
  const data = JSON.stringify({ type: '$ticked', key: 'a', due })
  const ticked = { type: '$ticked', version: 1, data, tags: [], subject: undefined, time: 0 }
  const outcome = byEvents
    ? await journal.append([{ write: 'run', id: 'clock/x', first: seq + 1, events: [ticked], timers, ...owner }])
    : await journal.append([
        {
          write: 'state',
          id: 'clock/x',
          expected: state!.revision,
          revision: state!.revision + 1,
          version: 1,
          // The time of the first tick, in the record of the timer that is in the record of the state.
          data: state!.data!.replace('100,100', `${due},100`),
          subject: undefined,
          time: 0,
          timers,
          ...owner,
        },
      ])
  expect(outcome).toEqual([{ is: 'stored' }])
  await journal.close()
}

/** The same, kept as a state. */
const stateClock: Kind<Clock> = durableState('clock', {
  initial: (): readonly string[] => [],
  commands: {
    once: (ctx, m) => ctx.timers.once(m.key, m.ms, { type: 'rang', key: m.key }),
    at: (ctx, m) => ctx.timers.at(m.key, m.time, { type: 'rang', key: m.key }),
    every: (ctx, m) => ctx.timers.every(m.key, m.ms, { type: 'rang', key: m.key }),
    cancel: (ctx, m) => ctx.timers.cancel(m.key),
    'change mind'(ctx, m) {
      ctx.timers.once(m.key, 5, { type: 'rang', key: 'never' })
      ctx.timers.cancelAll()
      throw new Error('thought better of it')
    },
    rang(ctx, m) {
      ctx.set([...ctx.state, `${m.key}@${ctx.now}`])
      if (fails > 0) {
        fails--
        throw new Error('not now')
      }
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

async function rings(kit: TestKit, ref: ActorRef<Clock>): Promise<readonly string[]> {
  const answer = ref.ask({ type: 'get' })
  await kit.settle()
  return answer
}
async function left(source: MemorySource): Promise<string[]> {
  const journal = await source.open(environment)
  return (await journal.due(Number.MAX_VALUE, 100)).map(({ key }) => key)
}

for (const [style, kind] of Object.entries({ 'event-sourced': clock, 'durable-state': stateClock }))
  describe(`timers of ${style} actors`, () => {
    test('fire when they are due and not before, once; one that was moved or cancelled, or set by a command that threw, does not', async () => {
      const source = memory()
      const kit = kitWith(source)
      const ref = kit.system.spawn(kind('1'))
      ref.tell({ type: 'once', key: 'a', ms: 1000 })
      ref.tell({ type: 'once', key: 'b', ms: 500 })
      ref.tell({ type: 'once', key: 'c', ms: 700 })
      await kit.settle()
      ref.tell({ type: 'once', key: 'b', ms: 2000 })
      ref.tell({ type: 'cancel', key: 'c' })
      ref.tell({ type: 'change mind', key: 'd' })
      await kit.advance(999)
      expect(await rings(kit, ref)).toEqual([])
      await kit.advance(1)
      expect(await rings(kit, ref)).toEqual(['a@1000'])
      await kit.advance(10_000)
      expect(await rings(kit, ref)).toEqual(['a@1000', 'b@2000'])
      expect(await left(source)).toEqual([])
      await kit.end()
    })

    test('of every: whose next time was counted from a clock that was ahead rings at its rate again, when the clock is right or its actor starts', async () => {
      for (const asleep of [false, true]) {
        const source = memory()
        const kit = kitWith(source)
        const ref = kit.system.spawn(kind('x'))
        ref.tell({ type: 'every', key: 'a', ms: 100 })
        await kit.settle()
        // As a clock leaves it that was a year ahead when the timer last fired.
        const year = 365 * 24 * 3_600_000
        ref.stop()
        await kit.settle()
        await moveTimer(source, kind === clock, year)
        const next = kit.system.spawn(kind('x'))
        if (asleep) await kit.settle()
        await kit.advance(1000)
        const answer = next.ask({ type: 'get' })
        await kit.settle()
        expect((await answer).length).toBeGreaterThanOrEqual(9)
        await kit.end()
      }
    })

    test('of every: at a fixed rate, and those that were missed count as one', async () => {
      const source = memory()
      const first = kitWith(source)
      const ref = first.system.spawn(kind('1'))
      ref.tell({ type: 'every', key: 'a', ms: 100 })
      await first.advance(350)
      expect(await rings(first, ref)).toEqual(['a@100', 'a@200', 'a@300'])
      await first.end()
      const second = kitWith(source)
      await second.advance(1230)
      const again = second.system.spawn(kind('1'))
      await second.advance(200)
      // The clock of the test began anew, at 0.
      expect(await rings(second, again)).toEqual(['a@100', 'a@200', 'a@300', 'a@1230', 'a@1300', 'a@1400'])
      await second.end()
    })

    test('that became due while nobody was there fire at once, after a restart too', async () => {
      const source = memory()
      const first = kitWith(source)
      first.system.spawn(kind('1')).tell({ type: 'once', key: 'a', ms: 1000 })
      await first.settle()
      await first.end()
      const second = kitWith(source)
      await second.advance(5000)
      const ref = second.system.spawn(kind('1'))
      await second.settle()
      expect(await rings(second, ref)).toEqual(['a@5000'])
      second.system.restart(ref)
      await second.advance(20_000)
      expect(await rings(second, ref)).toEqual(['a@5000'])
      await second.end()
    })

    test('are removed in the record of their effects: a command that throws, or a write that fails, leaves them to fire again', async () => {
      const source = memory()
      const kit = kitWith(source)
      const ref = kit.system.spawn(kind('1'), { supervision: 'resume' })
      ref.tell({ type: 'once', key: 'a', ms: 100 })
      fails = 2
      await kit.advance(20_000)
      const seen = await rings(kit, ref)
      expect(seen).toHaveLength(1)
      ref.tell({ type: 'once', key: 'b', ms: 100 })
      await kit.settle()
      source.faults.fail = 1
      await kit.advance(1000)
      source.faults.fail = 0
      await kit.advance(60_000)
      expect((await rings(kit, ref)).map((ring) => ring.split('@')[0])).toEqual(['a', 'b'])
      expect(await left(source)).toEqual([])
      await kit.end()
    })

    test('whose command always throws do not keep their actor from anything else, and are tried again later and later', async () => {
      const kit = kitWith(memory())
      const ref = kit.system.spawn(kind('1'))
      ref.tell({ type: 'once', key: 'bad', ms: 100 })
      fails = 1000
      let answered = 0
      for (let i = 0; i < 60; i++) {
        await kit.advance(1000)
        const answer = ref.ask({ type: 'get' }).then(() => void answered++)
        await kit.advance(100)
        // Soon, and not after a pause between restarts that only grows.
        expect(answered).toBe(i + 1)
        await answer
      }
      const tries = 1000 - fails
      expect(tries).toBeGreaterThan(5)
      expect(tries).toBeLessThan(20)
      fails = 0
      await kit.advance(10_000)
      expect(await rings(kit, ref)).toHaveLength(1)
      await kit.end()
    })

    test('wake an actor that sleeps, and one that never ran in this process', async () => {
      const source = memory()
      const start = (): { kit: TestKit; ref: ActorRef<Clock>; made: string[] } => {
        const made: string[] = []
        const kit: TestKit = kitWith(source, { find: () => ref })
        const ref: ActorRef<Clock> = kit.system.spawn(
          entities<Clock>({
            keyOf: () => 'x',
            create(key) {
              made.push(key)
              return kind(key)
            },
            idle: 50,
          }),
        )
        return { kit, ref, made }
      }
      const first = start()
      first.ref.tell({ type: 'once', key: 'a', ms: 1000 })
      first.ref.tell({ type: 'once', key: 'b', ms: 3000 })
      await first.kit.advance(999)
      expect(first.made).toEqual(['x'])
      await first.kit.advance(500)
      expect(first.made).toEqual(['x', 'x'])
      await first.kit.end()
      const second = start()
      await second.kit.advance(4000)
      expect(second.made).toEqual(['x'])
      expect(await rings(second.kit, second.ref)).toEqual(['a@1000', 'b@3000'])
      await second.kit.end()
    })
  })

test('a timer that is not durable yet does not fire, and none is armed by a write that failed', async () => {
  const journal = heldJournal()
  const kit = kitWith(journal)
  const ref = kit.system.spawn(clock('1'))
  await kit.settle()
  ref.tell({ type: 'once', key: 'a', ms: 100 })
  await kit.advance(1000)
  await journal.waiting[0]!.end('fail')
  journal.through = true
  await kit.advance(10_000)
  expect(await rings(kit, ref)).toEqual([])
  await kit.end()
})

test('thousands that are due together all fire, whoever cannot be found', async () => {
  const source = memory()
  const first = kitWith(source)
  const keys = Array.from({ length: 700 }, (_, i) => `${i}`)
  for (const key of keys) first.system.spawn(clock(key)).tell({ type: 'at', key: 'a', time: 50 })
  first.system.spawn(clock('last')).tell({ type: 'at', key: 'a', time: 60 })
  await first.settle()
  await first.end()
  const second = kitWith(source, { find: (_kind, key) => (key === 'last' ? ref : undefined) })
  const ref = second.system.spawn(entities<Clock>({ keyOf: () => 'last', create: (key) => clock(key), idle: 1e6 }))
  await second.advance(1000)
  expect(await rings(second, ref)).toEqual(['a@60'])
  await second.end()
})

test('what a timer sent cannot be put aside; a message that is no data, a key that is none and a time that is none are refused', async () => {
  type Odd = { type: 'go' } | { type: 'later' }
  const asked: string[] = []
  const note = (act: () => void): void => {
    try {
      act()
      asked.push('fine')
    } catch (cause) {
      asked.push((cause as { code: string }).code)
    }
  }
  const odd: Kind<Odd> = eventSourced('odd', {
    initial: () => 0,
    events: {},
    commands: {
      go(ctx) {
        note(() => ctx.timers.once('$x', 5, { type: 'later' }))
        note(() => ctx.timers.once('', 5, { type: 'later' }))
        note(() => ctx.timers.once('x', -1, { type: 'later' }))
        note(() => ctx.timers.every('x', 0, { type: 'later' }))
        note(() => ctx.timers.at('x', Number.NaN, { type: 'later' }))
        note(() => ctx.timers.once('x', 5, { type: 'later', replyTo: () => undefined } as never))
        ctx.timers.once('x', 5, { type: 'later' })
      },
      later: (ctx) => note(() => ctx.stash()),
    },
  })
  const kit = kitWith(memory())
  kit.system.spawn(odd('1')).tell({ type: 'go' })
  await kit.advance(100)
  expect(asked).toEqual(['invalid-option', 'invalid-option', 'invalid-option', 'invalid-option', 'invalid-option', 'not-storable', 'not-allowed'])
  await kit.end()
})

test('classes have them too, in both styles', async () => {
  class Sourced extends EventSourced<number, { type: 'rung' }> {
    static readonly persistence = { kind: 'sourced' }
    protected initial(): number {
      return 0
    }
    protected apply(n: number): number {
      return n + 1
    }
    wind(): void {
      this.gate.timers.once('a', 100, { type: 'ring', args: [] })
    }
    ring(): void {
      this.persist({ type: 'rung' })
    }
    count(): number {
      return this.state
    }
  }
  class Stated extends DurableState<number> {
    static readonly persistence = { kind: 'stated' }
    protected initial(): number {
      return 0
    }
    wind(): void {
      this.gate.timers.once('a', 100, { type: 'ring', args: [] })
    }
    ring(): void {
      this.update((n) => n + 1)
    }
    count(): number {
      return this.state
    }
  }
  const source = memory()
  const kit = kitWith(source)
  for (const one of [kit.system.spawn(Sourced, { args: ['1'] }), kit.system.spawn(Stated, { args: ['1'] })]) {
    one.tell.wind()
    await kit.advance(50)
    kit.system.restart(one)
    await kit.advance(50)
    const count = one.ask.count()
    await kit.settle()
    expect(await count).toBe(1)
  }
  await kit.end()
})

test('what becomes due while a system ends is left to whoever opens the journal next, and is no dead letter', async () => {
  const source = memory()
  const find = (): ActorRef<Clock> => all
  const kit = kitWith(source, { find })
  const all: ActorRef<Clock> = kit.system.spawn(entities<Clock>({ keyOf: () => '1', create: (key) => clock(key), idle: 5 }))
  all.tell({ type: 'once', key: 'a', ms: 100 })
  await kit.advance(90)
  // Somebody takes his time, so that the timer is due when nobody is there.
  kit.system.spawn(
    receive<string>(
      () => same,
      (_ctx, signal) => (signal.type === 'PreStop' ? delay(500, { clock: kit.system.clock }) : same),
    ),
  )
  await kit.settle()
  const ended = kit.system.shutdown()
  await kit.advance(1000)
  await ended
  expect(kit.system.deadLetters.list().map(({ reason }) => reason)).toEqual([])
  const next = kitWith(source)
  const ref = next.system.spawn(clock('1'))
  await next.advance(1000)
  const got = ref.ask({ type: 'get' })
  await next.settle()
  expect(await got).toHaveLength(1)
  await next.end()
})
