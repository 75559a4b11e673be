// What those see who look on: kinds and labels, surveys and what they leave out, who waits for whom, recordings, and sampled sends.

import {
  type ActorRef,
  Actor,
  type Behavior,
  type FlightEntry,
  type FlightNote,
  type Observation,
  receive,
  same,
  setup,
  supervise,
} from '@troupe/core'
import { coreOf, fuse, kindOfActor, phaseNames, recordCell, type Rows, Surveyor } from '@troupe/core/internal'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'

type Work = { type: 'work'; replyTo?: ActorRef<string> } | { type: 'hang'; replyTo?: ActorRef<string> } | { type: 'fail' }

const worker = (): Behavior<Work> =>
  receive(async (_ctx, m) => {
    if (m.type === 'fail') throw new Error('broken')
    if (m.type === 'hang') await new Promise(() => {})
    return same
  })
const counter = (): Behavior<Work> => receive(() => same)

function looker(kit: TestKit): Surveyor {
  return new Surveyor(coreOf(kit.system))
}
function row(rows: Rows, uid: number): Record<string, number> | undefined {
  const at = rows.uid.indexOf(uid)
  if (at < 0) return undefined
  const { length: _, ...columns } = rows
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, (column as Float64Array)[at]!]))
}

describe('kinds and labels', () => {
  test('an actor is of the kind it was spawned with, of its class, or of its name with stars for numbers', async () => {
    await using kit = createTestKit()
    class Cart extends Actor {}
    const { system } = kit
    const core = coreOf(system)
    const refs = [
      system.spawn(counter(), { kind: 'drone', name: 'd-1' }),
      system.spawn(Cart, { name: 'cart-7' }),
      system.spawn(counter(), { name: 'planner-12-a' }),
      system.spawn(
        setup<Work>((ctx) => {
          ctx.spawn(counter())
          return counter()
        }),
        { name: 'hall-3' },
      ),
    ]
    await kit.settle()
    const kinds = (await looker(kit).names()).map((n) => n.kind)
    expect(refs.map((ref) => kindOfActor(core.mine(ref, 'look at')))).toEqual(['drone', 'Cart', 'planner-*-a', 'hall-*'])
    expect(kinds).toContain('hall-*/*')
  })

  test('actors of one kind share their options, and one that is special besides keeps its kind', async () => {
    await using kit = createTestKit()
    const core = coreOf(kit.system)
    const [a, b, c] = [{ kind: 'k' }, { kind: 'k', name: 'b' }, { kind: 'k', stopTimeout: 10 }].map((o) =>
      core.mine(kit.system.spawn(counter(), o), 'look at'),
    )
    expect(a!.options).toBe(b!.options)
    expect(c!.options).toMatchObject({ kind: 'k', stopTimeout: 10 })
    expect(() => kit.system.spawn(counter(), { kind: '' })).toThrow(/kind/)
  })

  test('a label is what the actor said last, also after a restart, until it takes it back', async () => {
    await using kit = createTestKit()
    type Say = { type: 'say'; text: string } | { type: 'fail' }
    const ref = kit.system.spawn(
      receive<Say>((ctx, m) => {
        if (m.type === 'fail') throw new Error('broken')
        ctx.label(m.text)
        return same
      }),
    )
    const look = looker(kit)
    const label = async (): Promise<string | undefined> => (await look.names(new Set([ref.uid])))[0]?.label
    ref.tell({ type: 'say', text: 'flight to Oslo' })
    await kit.settle()
    expect(await label()).toBe('flight to Oslo')
    ref.tell({ type: 'fail' })
    await kit.advance(1000)
    expect(await label()).toBe('flight to Oslo')
    ref.tell({ type: 'say', text: '' })
    await kit.settle()
    expect(await label()).toBeUndefined()
  })
})

describe('surveys', () => {
  test('a survey says of each actor who it is, what it did since somebody looks, and what waits', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    const ref = kit.system.spawn(worker(), { name: 'w' })
    for (let i = 0; i < 3; i++) ref.tell({ type: 'work' })
    await kit.settle()
    look.arm()
    for (let i = 0; i < 5; i++) ref.tell({ type: 'work' })
    await kit.settle()
    ref.tell({ type: 'hang' })
    await kit.settle()
    ref.tell({ type: 'work' })
    ref.tell({ type: 'work' })
    await kit.advance(70)
    const { rows, whole } = await look.survey()
    const seen = row(rows, ref.uid)!
    expect(whole).toBe(true)
    expect(seen).toMatchObject({ queued: 2, pending: 70, incarnation: 0, phase: phaseNames.indexOf('running'), stub: 0 })
    // Each of the five is awaited, and what comes after it is a turn too; never less than what was handled.
    expect(seen['processed']).toBeGreaterThanOrEqual(6)
    expect(seen['parent']).toBe(coreOf(kit.system).guardian.ref.uid)
    look.disarm()
    kit.system.kill(ref)
  })

  test('with `since` only those are in it that something may have happened to, and whoever is in trouble stays in it', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    const [busy, idle, stuck] = ['busy', 'idle', 'stuck'].map((name) => kit.system.spawn(worker(), { name }))
    await kit.settle()
    look.arm()
    stuck!.tell({ type: 'hang' })
    await kit.settle()
    let { epoch } = await look.survey()
    for (let i = 1; i <= 3; i++) {
      busy!.tell({ type: 'work' })
      // Told without a turn of its own: it stands still.
      stuck!.tell({ type: 'work' })
      await kit.settle()
      const next = await look.survey(epoch)
      expect(next.whole).toBe(false)
      expect(row(next.rows, idle!.uid)).toBeUndefined()
      expect(row(next.rows, busy!.uid)).toMatchObject({ queued: 0 })
      expect(row(next.rows, stuck!.uid)).toMatchObject({ queued: i })
      epoch = next.epoch
    }
    // Whoever missed one gets everything.
    await look.survey(epoch)
    const late = await look.survey(epoch)
    expect(late.whole).toBe(true)
    expect(row(late.rows, idle!.uid)).toBeDefined()
    look.disarm()
    kit.system.kill(stuck!)
  })

  test('those that have ended are named once, and those that came since are in the next', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    const first = kit.system.spawn(counter())
    await kit.settle()
    look.arm()
    const { epoch } = await look.survey()
    kit.system.stop(first)
    const second = kit.system.spawn(counter())
    await kit.settle()
    const next = await look.survey(epoch)
    expect([...next.gone]).toEqual([first.uid])
    expect(row(next.rows, second.uid)).toMatchObject({ phase: phaseNames.indexOf('running') })
    expect([...(await look.survey(next.epoch)).gone]).toEqual([])
    look.disarm()
  })

  test('time is shared among those that ran, by what the clock showed', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    look.arm()
    const core = coreOf(kit.system)
    const now = core.runtime.now.bind(core.runtime)
    let spent = 0
    core.runtime.now = () => now() + spent
    const slow = kit.system.spawn(
      receive<'x'>(() => {
        spent += 3
        return same
      }),
    )
    const quick = kit.system.spawn(counter())
    await kit.settle()
    for (let i = 0; i < 40; i++) {
      slow.tell('x')
      quick.tell({ type: 'work' })
    }
    await kit.settle()
    const { rows } = await look.survey()
    const [s, q] = [row(rows, slow.uid)!, row(rows, quick.uid)!]
    expect(s['busy']! + q['busy']!).toBeGreaterThan(100)
    expect(s['busy']).toBeGreaterThan(4 * q['busy']!)
    look.disarm()
  })

  test('where more have turns than are followed, the messages of all are counted, and whoever is behind is followed', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    const core = coreOf(kit.system)
    look.arm()
    const many = Array.from({ length: 9000 }, () => kit.system.spawn(counter()))
    const stuck = kit.system.spawn(worker())
    await kit.settle()
    const first = await look.survey()
    const before = new Map(many.map(({ uid }, i) => [uid, first.rows.processed[first.rows.uid.indexOf(uid, i)]!]))
    for (let i = 0; i < 3; i++) for (const ref of many) ref.tell({ type: 'work' })
    for (let i = 0; i < 20; i++) stuck.tell({ type: 'hang' })
    await kit.settle()
    const second = await look.survey(first.epoch)
    // Of those that were not written down only a look at everybody tells.
    expect([first.whole, second.whole]).toEqual([true, true])
    const { rows } = second
    const after = new Map(Array.from(rows.uid, (uid, i) => [uid, rows.processed[i]!]))
    expect(many.filter(({ uid }) => after.get(uid)! - before.get(uid)! !== 3)).toEqual([])
    expect(core.stirred!.find(core.mine(many[8999]!, 'look at'))).toBeUndefined()
    expect(core.stirred!.find(core.mine(stuck, 'look at'))?.processed).toBe(2)
    // Where few have turns it is as it was.
    many[8999]!.tell({ type: 'work' })
    await kit.settle()
    const third = await look.survey(second.epoch)
    expect(third.whole).toBe(false)
    expect(row(third.rows, many[8999]!.uid)).toMatchObject({ processed: after.get(many[8999]!.uid)! + 1 })
    look.disarm()
  })

  test('of many of whom only messages are counted, one whose messages take long is timed', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    look.arm()
    const core = coreOf(kit.system)
    const now = core.runtime.now.bind(core.runtime)
    let spent = 0
    core.runtime.now = () => now() + spent
    const many = Array.from({ length: 8300 }, () => kit.system.spawn(counter()))
    const slow = kit.system.spawn(
      receive<'x'>(() => {
        spent += 30
        return same
      }),
    )
    await kit.settle()
    await look.survey()
    for (let i = 0; i < 5; i++) {
      for (const ref of many) ref.tell({ type: 'work' })
      slow.tell('x')
      await kit.settle()
    }
    const { rows } = await look.survey()
    const [s, m] = [row(rows, slow.uid)!, row(rows, many[8299]!.uid)!]
    expect(s['busy']).toBeGreaterThan(100 * m['busy']!)
    look.disarm()
  })

  test('of a thread that is busy for whole slices with next to nothing some slices are looked at: who did how much is about right, and nobody is missed', async () => {
    await using kit = createTestKit()
    const look = looker(kit)
    const core = coreOf(kit.system)
    const { fallback } = core.dispatchers
    const now = core.runtime.now.bind(core.runtime)
    let spent = 0
    core.runtime.now = () => now() + spent
    let left = 600_000
    const shy = kit.system.spawn(counter())
    let shyTold = 0
    const overlooked: boolean[] = []
    const mild = kit.system.spawn(
      receive<'x'>(() => {
        spent += 0.0002
        return same
      }),
    )
    const hot = kit.system.spawn(
      receive<'x'>((ctx) => {
        spent += 0.0002
        if (--left > 0) ctx.self.tell('x')
        if (left % 4 === 0) mild.tell('x')
        if (left % 50_000 === 0) overlooked.push(fallback.witness === undefined)
        // Once, while nobody looks.
        if (left < 300_000 && fallback.witness === undefined && shyTold === 0) {
          shyTold = left
          shy.tell({ type: 'work' })
        }
        return same
      }),
    )
    await kit.settle()
    look.arm()
    const { epoch } = await look.survey()
    const before = fallback.messages
    hot.tell('x')
    await kit.settle()
    const handled = fallback.messages - before
    const { rows, whole } = await look.survey(epoch)
    expect(new Set(overlooked)).toEqual(new Set([true, false]))
    expect([shyTold > 0, whole, row(rows, shy.uid) !== undefined]).toEqual([true, true, true])
    const [h, m] = [row(rows, hot.uid)!['processed']!, row(rows, mild.uid)!['processed']!]
    // What was handled in the last slices that nobody looked at is nobody's yet.
    expect(h + m).toBeGreaterThan(handled * 0.75)
    expect(h + m).toBeLessThanOrEqual(handled)
    expect(h / (h + m)).toBeCloseTo(0.8, 1)
    expect(row(rows, hot.uid)!['busy']! / h).toBeCloseTo(0.0002, 4)
    // At rest it looks on again, and exactly.
    mild.tell('x')
    shy.tell({ type: 'work' })
    await kit.settle()
    expect(fallback.witness).toBeDefined()
    look.disarm()
    await kit.settle()
    expect(fallback.witness).toBeUndefined()
  })

  test('nothing is counted before somebody looks, and nothing is left afterwards', async () => {
    await using kit = createTestKit()
    const core = coreOf(kit.system)
    const ref = kit.system.spawn(counter())
    const cell = core.mine(ref, 'look at')
    ref.tell({ type: 'work' })
    await kit.settle()
    expect([core.stirred, core.dispatchers.fallback.witness]).toEqual([undefined, undefined])
    const look = looker(kit)
    look.arm()
    ref.tell({ type: 'work' })
    await kit.settle()
    expect(core.stirred?.find(cell)?.processed).toBe(1)
    look.disarm()
    await kit.settle()
    expect([core.stirred, core.dispatchers.fallback.witness]).toEqual([undefined, undefined])
  })

  test('each of many is counted for itself, and of those that ended nothing is kept', async () => {
    await using kit = createTestKit()
    const core = coreOf(kit.system)
    const look = looker(kit)
    const all = Array.from({ length: 5000 }, () => kit.system.spawn(counter()))
    // Spawned before anybody looks, and apart by the number of buckets: several share one, and there are more than buckets to begin with.
    await kit.settle()
    look.arm()
    const refs = all.filter((_, i) => i % 1024 < 300)
    const cells = refs.map((ref) => core.mine(ref, 'look at'))
    for (const [i, ref] of refs.entries()) for (let n = 0; n <= i % 3; n++) ref.tell({ type: 'work' })
    await kit.settle()
    expect(cells.map((cell) => core.stirred?.find(cell)?.processed)).toEqual(refs.map((_, i) => 1 + (i % 3)))
    for (const [i, ref] of refs.entries()) if (i % 2 === 0) ref.stop()
    await kit.settle()
    expect(cells.map((cell) => core.stirred?.find(cell)?.processed)).toEqual(refs.map((_, i) => (i % 2 === 0 ? undefined : 1 + (i % 3))))
    look.disarm()
  })

  test('a survey of many comes in portions, between which others have their turns', async () => {
    await using kit = createTestKit()
    const core = coreOf(kit.system)
    for (let i = 0; i < 2000; i++) kit.system.spawn(counter())
    await kit.settle()
    let reads = 0
    const now = core.runtime.now.bind(core.runtime)
    const yields = { count: 0 }
    const yielding = core.runtime.yield.bind(core.runtime)
    core.runtime.now = () => now() + reads++
    core.runtime.yield = (task) => {
      yields.count++
      yielding(task)
    }
    const survey = looker(kit).survey()
    await kit.settle()
    expect((await survey).rows.length).toBe(2001)
    expect(yields.count).toBeGreaterThan(5)
  })
})

describe('waits', () => {
  test('who waits for whom, for how long, and where the question is', async () => {
    await using kit = createTestKit()
    const server = kit.system.spawn(worker(), { name: 'server' })
    type Go = { type: 'go' }
    const client = kit.system.spawn(
      receive<Go>(async (ctx) => {
        await ctx.ask(server, { type: 'hang' } as never, { timeout: 60_000 })
        return same
      }),
      { name: 'client' },
    )
    client.tell({ type: 'go' })
    await kit.settle()
    const outside = server.ask({ type: 'work' } as never, { timeout: 60_000 })
    outside.catch(() => {})
    await kit.advance(1000)
    const waits = await looker(kit).waits()
    expect(waits).toHaveLength(2)
    expect(waits.find((w) => w.asker === client.uid)).toMatchObject({
      askerPath: '/user/client',
      targetPath: '/user/server',
      type: 'hang',
      ms: 1000,
      left: 59_000,
      state: 'taken',
      binds: true,
    })
    expect(waits.find((w) => w.asker === undefined)).toMatchObject({ target: server.uid, type: 'work', state: 'queued', binds: false })
    kit.system.kill(server)
    await kit.settle()
    expect(await looker(kit).waits()).toEqual([])
  })
})

test('a recording holds messages with their senders, signals and answers, and only of the actor that is recorded', async () => {
  await using kit = createTestKit()
  type Do = { type: 'do' }
  const oracle = kit.system.spawn(
    receive<{ type: 'q'; replyTo: ActorRef<number> }>((_ctx, m) => {
      m.replyTo.tell(42)
      return same
    }),
    { name: 'oracle' },
  )
  const asker = kit.system.spawn(
    receive<Do>(
      async (ctx) => {
        await ctx.ask(oracle, { type: 'q' })
        return same
      },
      () => same,
    ),
    { name: 'asker' },
  )
  await kit.settle()
  const core = coreOf(kit.system)
  const entries: (FlightEntry | FlightNote)[] = []
  const stop = recordCell(core.mine(asker, 'record'), {
    add: (e) => void entries.push(e),
    note: (e) => void entries.push(e),
    entries: () => [],
  })
  asker.tell({ type: 'do' }, oracle)
  await kit.settle()
  kit.system.restart(asker)
  await kit.settle()
  expect(entries[0]).toMatchObject({ what: 'message', type: 'do', sender: oracle })
  expect(entries[1]).toMatchObject({ what: 'answer', of: oracle, ok: true, value: 42 })
  expect(entries.filter((e) => e.what === 'signal').map((e) => e.type)).toContain('PreRestart')
  stop()
  const before = entries.length
  asker.tell({ type: 'do' })
  await kit.settle()
  expect(entries).toHaveLength(before)
  expect(core.mine(asker, 'look at').options.plain).toBe(true)
})

describe('what is observed besides', () => {
  async function observing(kit: TestKit): Promise<Observation[]> {
    const seen: Observation[] = []
    kit.system.events.listen((o) => void seen.push(o as Observation))
    await kit.settle()
    return seen
  }

  test('a decision says how often, after which pause and within which limit', async () => {
    await using kit = createTestKit()
    const seen = await observing(kit)
    const supervision = supervise({ limit: { restarts: 5, within: 1000 }, backoff: { min: 20, max: 1000, factor: 2, jitter: 0 } })
    const ref = kit.system.spawn(worker(), { supervision })
    ref.tell({ type: 'fail' })
    await kit.advance(30)
    ref.tell({ type: 'fail' })
    await kit.advance(100)
    const decisions = seen.filter((o) => o.type === 'directive')
    expect(decisions).toMatchObject([
      { directive: 'restart', attempt: 1, delay: 20, limit: { restarts: 5, within: 1000 } },
      { directive: 'restart', attempt: 2, delay: 40 },
    ])
  })

  test('a question that is given up, one that closes a circle, and a stash that is full', async () => {
    await using kit = createTestKit()
    const seen = await observing(kit)
    const server = kit.system.spawn(worker(), { name: 'server' })
    server.tell({ type: 'hang' })
    await kit.settle()
    await Promise.all([expect(server.ask({ type: 'work' } as never, { timeout: 100 })).rejects.toThrow(/server/), kit.advance(100)])
    expect(seen.find((o) => o.type === 'ask.timeout')).toMatchObject({
      ref: server,
      asker: undefined,
      ms: 100,
      explanation: { question: 'queued', inProgress: { what: 'hang' } },
    })
    type Self = { type: 'self'; replyTo?: ActorRef<number> }
    const loop = kit.system.spawn(
      receive<Self>(async (ctx) => {
        await ctx.ask(ctx.self, { type: 'self' } as never).catch(() => {})
        return same
      }),
      { name: 'loop' },
    )
    loop.tell({ type: 'self' })
    await kit.settle()
    expect(seen.find((o) => o.type === 'deadlock')).toMatchObject({ ref: loop, cycle: ['/user/loop', '/user/loop'], rejected: true })
    const hoarder = kit.system.spawn(
      receive<number>((ctx, m) => {
        ctx.stash.add(m)
        return same
      }),
      { stash: { capacity: 1, overflow: 'drop-oldest' } },
    )
    hoarder.tell(1)
    hoarder.tell(2)
    await kit.settle()
    expect(seen.find((o) => o.type === 'stash.overflow')).toMatchObject({ ref: hoarder, capacity: 1 })
    kit.system.kill(server)
  })
})

test('sends are sampled at the gaps that the sampler asks for, and none once it has gone', async () => {
  await using kit = createTestKit()
  const ref = kit.system.spawn(counter())
  await kit.settle()
  const seen: unknown[] = []
  fuse.sample({
    gap: 10,
    sampled: (target, message) => {
      seen.push([target === coreOf(kit.system).mine(ref, 'look at'), message])
      return false
    },
  })
  for (let i = 0; i < 100; i++) ref.tell({ type: 'work' })
  fuse.sample(undefined)
  for (let i = 0; i < 100; i++) ref.tell({ type: 'work' })
  await kit.settle()
  expect(seen).toHaveLength(10)
  expect(seen[0]).toEqual([true, { type: 'work' }])
})
