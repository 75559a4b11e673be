// States that event handlers and commands change in place, which is natural in JavaScript: what is stored is what memory was when it was decided.

import type { ActorRef } from '@troupe/core'
import { durableState, eventSourced, EventSourced, type Kind, type MemorySource, memory, persistence } from '@troupe/persistence'
import { simulate, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type List = { type: 'add'; by?: number } | { type: 'get'; replyTo: ActorRef<number> } | { type: 'fail'; replyTo: ActorRef<number> }

const pushed: Kind<List> = eventSourced('list', {
  initial: () => ({ entries: [] as number[] }),
  events: {
    added(s, e: { n: number }) {
      s.entries.push(e.n)
      return s
    },
  },
  commands: {
    add: (ctx) => ctx.persist({ type: 'added', n: ctx.state.entries.length }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.entries.length),
    fail(ctx) {
      ctx.persist({ type: 'added', n: -1 })
      throw new Error('no')
    },
  },
  snapshotEvery: 5,
})

class Sum extends EventSourced<{ n: number }, { readonly type: 'added' }> {
  static readonly persistence = { kind: 'list', snapshotEvery: 5 }
  protected initial(): { n: number } {
    return { n: 0 }
  }
  protected apply(s: { n: number }): { n: number } {
    s.n++
    return s
  }
  add(): void {
    this.persist({ type: 'added' })
  }
  get(): number {
    return this.state.n
  }
}

const asked: Kind<{ type: 'add'; replyTo: ActorRef<string> }> = eventSourced('asked', {
  initial: () => ({ n: 0 }),
  events: {
    added(s) {
      s.n++
      return s
    },
  },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added' })
      ctx.tell(m.replyTo, 'stored')
    },
  },
})

const kept: Kind<List> = durableState('list', {
  initial: () => ({ entries: [] as number[] }),
  commands: {
    add: (ctx) =>
      ctx.update((s) => {
        s.entries.push(1)
        return s
      }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.entries.length),
    fail(ctx) {
      ctx.update((s) => {
        s.entries.push(-1)
        return s
      })
      throw new Error('no')
    },
  },
})

/** Asks a list how long it is. */
async function length(kit: TestKit, ref: ActorRef<List>): Promise<number> {
  const answer = ref.ask({ type: 'get' }, { timeout: 10_000 })
  await kit.advance(1000)
  return answer
}

describe('a snapshot is what the state was when it was decided', () => {
  test('by a handler that pushes, while several writes are under way', async () => {
    const source = heldJournal()
    const kit = kitWith(source)
    const ref = kit.system.spawn(pushed('1'))
    await kit.settle()
    // The snapshot of 5 is decided in the first write; the state has 17 entries when that is stored.
    for (let i = 0; i < 5; i++) ref.tell({ type: 'add' })
    await kit.settle()
    for (let i = 0; i < 12; i++) ref.tell({ type: 'add' })
    await kit.settle()
    await source.waiting[0]!.end('store')
    await kit.settle()
    source.through = true
    kit.system.kill(ref)
    while (source.waiting.length > 0) await source.waiting[0]!.end('store')
    await kit.settle()
    expect(await length(kit, kit.system.spawn(pushed('1')))).toBe(17)
    await kit.end()
  })

  test('of a class that counts in place', async () => {
    const source = heldJournal()
    const kit = kitWith(source)
    const ref = kit.system.spawn(Sum, { args: ['1'] })
    await kit.settle()
    for (let i = 0; i < 5; i++) ref.tell.add()
    await kit.settle()
    for (let i = 0; i < 5; i++) ref.tell.add()
    await kit.settle()
    await source.waiting[0]!.end('store')
    await kit.settle()
    await source.waiting[0]!.end('store')
    source.through = true
    await kit.settle()
    const live = ref.ask.get()
    await kit.settle()
    expect(await live).toBe(10)
    ref.stop()
    await kit.settle()
    const recovered = kit.system.spawn(Sum, { args: ['1'] }).ask.get()
    await kit.settle()
    expect(await recovered).toBe(10)
    await kit.end()
  })

  test('which cannot be stored: the actor goes on without it', async () => {
    const source = memory()
    const kit = kitWith(source)
    const kind: Kind<List> = eventSourced('odd', {
      initial: (): { n: number; f?: () => void } => ({ n: 0 }),
      events: { added: (s) => ({ n: s.n + 1, f: () => undefined }) },
      commands: { add: (ctx) => ctx.persist({ type: 'added' }), get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.n), fail: () => undefined },
      snapshotEvery: 2,
    })
    const ref = kit.system.spawn(kind('1'))
    for (let i = 0; i < 3; i++) ref.tell({ type: 'add' })
    await kit.settle()
    expect(await length(kit, ref)).toBe(3)
    kit.expectLog('a snapshot was not kept; recovery replays more events until the next one is')
    await kit.end()
  })
})

describe('a durable state is what it was when it was set', () => {
  test('though later changes in place come before its write', async () => {
    const source = heldJournal()
    const kit = kitWith(source)
    const ref = kit.system.spawn(kept('1'))
    await kit.settle()
    ref.tell({ type: 'add' })
    await kit.settle()
    ref.tell({ type: 'add' })
    await kit.settle()
    expect(source.waiting[0]!.group).toMatchObject([{ revision: 1, data: '{"entries":[1]}' }])
    await source.waiting[0]!.end('store')
    await kit.settle()
    expect(source.waiting[0]!.group).toMatchObject([{ revision: 2, data: '{"entries":[1,1]}' }])
    source.through = true
    await source.waiting[0]!.end('store')
    await kit.end()
  })

  test('also where a timer is what the record is written for', async () => {
    type Alarm = { type: 'set' } | { type: 'remind' } | { type: 'touch' }
    const kind: Kind<Alarm> = durableState('alarm', {
      initial: () => ({ n: 0 }),
      commands: {
        set: (ctx) => ctx.set({ n: 1 }),
        remind: (ctx) => ctx.timers.once('x', 100_000, { type: 'touch' }),
        // What no command may do: the state of the record is that of the moment at which the timer was set.
        touch: (ctx) => void (ctx.state.n = 99),
      },
    })
    const source = heldJournal()
    source.through = true
    const kit = kitWith(source)
    const ref = kit.system.spawn(kind('1'))
    ref.tell({ type: 'set' })
    await kit.settle()
    source.through = false
    // Its own write keeps the journal busy while the next two come.
    const other = kit.system.spawn(kind('2'))
    other.tell({ type: 'set' })
    await kit.settle()
    ref.tell({ type: 'remind' })
    ref.tell({ type: 'touch' })
    await kit.settle()
    source.through = true
    await source.waiting[0]!.end('store')
    await kit.settle()
    expect(source.inner.headOf('alarm/1').state?.data).toContain('{\\"n\\":1}')
    await kit.end()
  })
})

/** Two entries, then a command that changed the state in place and threw, under a policy that keeps the memory. */
async function resumed(kind: Kind<List>): Promise<void> {
  const source: MemorySource = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(kind('1'), { supervision: 'resume' })
  ref.tell({ type: 'add' })
  ref.tell({ type: 'add' })
  const failed = ref.ask({ type: 'fail' }).catch((cause: Error) => cause.message)
  await kit.advance(1000)
  expect(await failed).toBe('no')
  expect(await length(kit, ref)).toBe(2)
  ref.tell({ type: 'add' })
  expect(await length(kit, ref)).toBe(3)
  ref.stop()
  await kit.settle()
  expect(await length(kit, kit.system.spawn(kind('1')))).toBe(3)
  await kit.end()
}

describe('a command that throws after it changed the state in place is undone where supervision resumes', () => {
  test('of events', () => resumed(pushed))
  test('of a durable state', () => resumed(kept))
})

test('a snapshot that becomes due while another is saved follows it, without a further write', async () => {
  const inner = memory()
  let open: (() => void) | undefined
  let hold = true
  const kit = kitWith({
    ...inner,
    name: inner.name,
    async open(environment) {
      const journal = await inner.open(environment)
      const save = journal.saveSnapshot.bind(journal)
      return Object.assign(journal, {
        saveSnapshot: async (write: Parameters<typeof save>[0]) => {
          if (hold) await new Promise<void>((resolve) => (open = resolve))
          return save(write)
        },
      })
    },
  })
  const ref = kit.system.spawn(pushed('1'))
  for (let i = 0; i < 5; i++) ref.tell({ type: 'add' })
  await kit.settle()
  for (let i = 0; i < 5; i++) ref.tell({ type: 'add' })
  await kit.settle()
  expect(inner.headOf('list/1')).toMatchObject({ seq: 10, snapshot: undefined })
  hold = false
  open!()
  await kit.settle()
  expect(inner.headOf('list/1')).toMatchObject({ seq: 10, snapshot: { seq: 10 } })
  await kit.end()
})

describe('immutableCheck refuses commands that change a state in place', () => {
  test('in the simulator, unless it is told not to', async () => {
    for (const [immutableCheck, expected] of [
      [undefined, 'not-allowed'],
      [false, 'stored'],
    ] as const) {
      const ended: unknown[] = []
      await simulate(
        (sim) => {
          const ref = sim.system.spawn(asked('1'))
          ref.ask({ type: 'add' }).then(
            (answer) => ended.push(answer),
            (cause: { code: string }) => ended.push(cause.code),
          )
        },
        { seeds: 1, faults: 'none', system: { extensions: [persistence({ journal: memory(), immutableCheck })] } },
      )
      expect(ended).toEqual([expected])
    }
  })

  test('wherever it is asked for, and nothing of the command is stored', async () => {
    const source = memory()
    const kit = kitWith(source, { immutableCheck: true })
    for (const [key, kind] of [
      ['1', pushed],
      ['2', kept],
    ] as const) {
      kit.system.spawn(kind(key)).tell({ type: 'add' })
      await kit.settle()
      expect(source.headOf(`list/${key}`)).toMatchObject({ seq: 0, state: undefined })
    }
    await kit.end()
  })
})
