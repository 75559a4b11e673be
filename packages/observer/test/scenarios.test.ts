// For each finding one system that earns it, on virtual time, and what is said of it.

import { type ActorRef, type AnyRef, type Behavior, bounded, delay, receive, same, setup, supervise } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { type Finding, type Round, Rounds, ruleNames } from '@troupe/observer/findings'
import { journalsAway } from '@troupe/observer'
import { eventSourced, type JournalSource, type Kind, memory, persistence, projection } from '@troupe/persistence'
import { createTestKit, expectNoFindings, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { counter } from '../../persistence/test/counter.ts'
import { heldJournal } from '../../persistence/test/held-journal.ts'

/** Keeps as few events as it may. */
const kept: Kind<{ type: 'add' }> = eventSourced('kept', {
  initial: () => 0,
  events: { added: (n) => n + 1 },
  commands: { add: (ctx) => ctx.persist({ type: 'added' }) },
  snapshotEvery: 5,
  keepEvents: 0,
})

/** Looks once a second; `each` is done between two looks. */
async function watch(kit: TestKit, seconds: number, each: () => void = () => {}): Promise<readonly Finding[]> {
  const rounds = new Rounds(kit.system)
  rounds.begin()
  let findings: readonly Finding[] = []
  for (let i = 0; i <= seconds; i++) {
    findings = (await rounds.round()).findings
    each()
    await kit.advance(1000)
  }
  findings = (await rounds.round()).findings
  rounds.end()
  await kit.settle()
  return findings
}

/** Looks whenever an actor says so, in the midst of its work: where time is virtual, none is left when that is done. */
async function lookedAtBy(kit: TestKit, begin: (look: () => void) => void): Promise<readonly Finding[]> {
  const rounds = new Rounds(kit.system)
  rounds.begin()
  const looks: Promise<Round>[] = []
  begin(() => void looks.push(rounds.round()))
  await kit.settle()
  const all = await Promise.all(looks)
  rounds.end()
  await kit.settle()
  return all.at(-1)!.findings
}

/** Lets the clock go on inside of handlers, as it does where they take time. */
function spending(kit: TestKit): (ms: number) => void {
  const { runtime } = coreOf(kit.system)
  const now = runtime.now.bind(runtime)
  let spent = 0
  runtime.now = () => now() + spent
  return (ms) => void (spent += ms)
}

type Ask = { type: 'ask'; to?: ActorRef<Ask>; through?: readonly ActorRef<Ask>[]; replyTo?: ActorRef<string> }
/** Asks the next, and answers when that has. */
const asker = (): Behavior<Ask> =>
  receive(async (ctx, m) => {
    const [next, ...through] = m.through ?? []
    if (next !== undefined) await ctx.ask(next, { type: 'ask', through } as never, { timeout: 600_000, deadlock: 'off' }).catch(() => {})
    else if (m.through !== undefined) await new Promise(() => {})
    m.replyTo?.tell('done')
    return same
  })
const sink = (): Behavior<unknown> => receive(() => same)
const stuck = (): Behavior<unknown> => receive(() => new Promise<never>(() => {}))

interface Scenario {
  readonly rule: Finding['rule']
  readonly says: RegExp
  readonly subject: RegExp
  readonly severity: Finding['severity']
  readonly run: (kit: TestKit) => Promise<readonly Finding[]>
}

const scenarios: readonly Scenario[] = [
  {
    rule: 'wait-cycle',
    severity: 'error',
    subject: /^hangar → tower → hangar$/,
    says: /each waits for the answer of the next, for 11 s/,
    run: async (kit) => {
      const [hangar, tower] = ['hangar', 'tower'].map((name) => kit.system.spawn(asker(), { name }))
      hangar!.tell({ type: 'ask', through: [tower!, hangar!] })
      await kit.settle()
      return watch(kit, 10)
    },
  },
  {
    rule: 'ask-chain',
    severity: 'warning',
    subject: /^a0 → a1 → a2 → a3 → a4 → a5 → a6$/,
    says: /6 questions stand one behind the other.*wait for a6/,
    run: async (kit) => {
      const [first, ...rest] = Array.from({ length: 7 }, (_, i) => kit.system.spawn(asker(), { name: `a${i}` }))
      first!.tell({ type: 'ask', through: rest })
      await kit.settle()
      return watch(kit, 1)
    },
  },
  {
    rule: 'handler-pending',
    severity: 'error',
    subject: /^\/user\/slow$/,
    says: /waiting for 12 s, and behind it wait 2 messages/,
    run: async (kit) => {
      const ref = kit.system.spawn(stuck(), { name: 'slow' })
      for (let i = 0; i < 3; i++) ref.tell('x')
      await kit.settle()
      return watch(kit, 11)
    },
  },
  {
    rule: 'mailbox-grows',
    severity: 'warning',
    subject: /^\/user\/map$/,
    says: /^\d+ queued, \+\d+\/s for \d+ s; its handler takes 100 ms, which is 10\/s at most$/,
    run: async (kit) => {
      // Each message brings four more, until enough was seen.
      const spend = spending(kit)
      let seen = 0
      return lookedAtBy(kit, (look) => {
        const map: ActorRef<string> = kit.system.spawn(
          receive<string>(() => {
            spend(100)
            if (++seen >= 120) return same
            for (let i = 0; i < 4; i++) map.tell('position')
            if (seen % 10 === 0) look()
            return same
          }),
          { name: 'map' },
        )
        map.tell('position')
      })
    },
  },
  {
    rule: 'starved',
    severity: 'error',
    subject: /^\/user\/sink$/,
    says: /its handler takes only .*, but it had \d+ % of the time/,
    run: async (kit) => {
      // Beside one that takes 100 ms for each message it has one message a turn, and looks are taken while both are at it.
      const spend = spending(kit)
      const dispatcher = 'tight'
      const cheap = kit.system.spawn(
        receive<string>(() => {
          spend(0.004)
          return same
        }),
        { name: 'sink', dispatcher },
      )
      return lookedAtBy(kit, (look) => {
        const hog = kit.system.spawn(
          receive<number>((_ctx, n) => {
            spend(100)
            for (let i = 0; i < 6; i++) cheap.tell('x')
            if (n % 10 === 0) look()
            return same
          }),
          { name: 'hog', dispatcher },
        )
        for (let n = 0; n < 120; n++) hog.tell(n)
      })
    },
  },
  {
    rule: 'holds-loop',
    severity: 'warning',
    subject: /^\/user\/billing$/,
    says: /turns held the thread, the longest for 2\d\d ms/,
    run: async (kit) => {
      const spend = spending(kit)
      const billing = kit.system.spawn(
        receive<string>(() => {
          spend(200)
          return same
        }),
        { name: 'billing' },
      )
      return watch(kit, 5, () => billing.tell('invoice'))
    },
  },
  {
    rule: 'restart-storm',
    severity: 'warning',
    subject: /^“rotor \* failed”$/,
    says: /12 failures of 12 actors, all restarted; the first of them \/user\/drone-0/,
    run: async (kit) => {
      const drones = Array.from({ length: 12 }, (_, i) =>
        kit.system.spawn(
          receive<string>(() => {
            throw new Error(`rotor ${i} failed`)
          }),
          { name: `drone-${i}` },
        ),
      )
      let once = true
      return watch(kit, 3, () => {
        if (once) for (const drone of drones) drone.tell('fly')
        once = false
      })
    },
  },
  {
    rule: 'uneven-pool',
    severity: 'warning',
    subject: /^\/user\/planners$/,
    says: /\/user\/planners\/planner-2 takes \d+ × as long for a message as its siblings, and has \d+ queued/,
    run: async (kit) => {
      const spend = spending(kit)
      const all: ActorRef<number>[] = []
      kit.system.spawn(
        setup<never>((ctx) => {
          for (let i = 0; i < 4; i++) {
            const planner = receive<number>(() => {
              spend(i === 2 ? 1 : 0.01)
              return same
            })
            all.push(ctx.spawn(planner, { name: `planner-${i}` }))
          }
          return receive(() => same)
        }),
        { name: 'planners' },
      )
      await kit.settle()
      return lookedAtBy(kit, (look) => {
        const feeder = kit.system.spawn(
          receive<number>((_ctx, n) => {
            spend(0.7)
            for (const planner of all) for (let i = 0; i < 5; i++) planner.tell(i)
            if (n % 20 === 0) look()
            return same
          }),
          { name: 'feeder' },
        )
        for (let n = 0; n < 200; n++) feeder.tell(n)
      })
    },
  },
  {
    rule: 'dead-letters',
    severity: 'warning',
    subject: /^outside → \/user\/gone \(stopped\)$/,
    says: /\d+ messages within a minute reached nobody/,
    run: async (kit) => {
      const gone = kit.system.spawn(sink(), { name: 'gone' })
      gone.stop()
      await kit.settle()
      return watch(kit, 3, () => {
        for (let i = 0; i < 5; i++) gone.tell('x')
      })
    },
  },
  {
    rule: 'late-replies',
    severity: 'warning',
    subject: /^\/user\/oracle$/,
    says: /answers within a minute came after the question was given up/,
    run: async (kit) => {
      const oracle = kit.system.spawn(
        receive<{ type: 'q'; replyTo: ActorRef<number> }>(async (_ctx, m) => {
          await delay(500, { clock: kit.system.clock })
          m.replyTo.tell(42)
          return same
        }),
        { name: 'oracle' },
      )
      return watch(kit, 5, () => void oracle.ask({ type: 'q' }, { timeout: 100 }).catch(() => {}))
    },
  },
  {
    rule: 'stash-unchanged',
    severity: 'warning',
    subject: /^\/user\/hoarder$/,
    says: /3 messages in its stash, unchanged for 3\d s/,
    run: async (kit) => {
      const hoarder = kit.system.spawn(
        receive<number>((ctx, m) => {
          ctx.stash.add(m)
          return same
        }),
        { name: 'hoarder' },
      )
      for (let i = 0; i < 3; i++) hoarder.tell(i)
      await kit.settle()
      return watch(kit, 32)
    },
  },
  {
    rule: 'timers-grow',
    severity: 'warning',
    subject: /^\/user\/clockwork$/,
    says: /timers and deadlines are armed, \d+ more than 3\d s ago.*it holds \d+ of them/,
    run: async (kit) => {
      const clockwork = kit.system.spawn(
        receive<number>((ctx, m) => {
          ctx.timers.every(`k${m}`, 100_000, 0)
          return same
        }),
        { name: 'clockwork' },
      )
      let n = 0
      return watch(kit, 33, () => {
        for (let i = 0; i < 5; i++) clockwork.tell(++n)
      })
    },
  },
  {
    rule: 'population-grows',
    severity: 'warning',
    subject: /^\/user\/hall$/,
    says: /it has \d+ children, \d+ more than 3\d s ago.*does anybody stop them/,
    run: async (kit) => {
      const hall = kit.system.spawn(
        receive<string>((ctx) => {
          for (let i = 0; i < 10; i++) ctx.spawn(sink())
          return same
        }),
        { name: 'hall' },
      )
      return watch(kit, 33, () => hall.tell('come in'))
    },
  },
  {
    rule: 'drops',
    severity: 'warning',
    subject: /^mailbox-overflow$/,
    says: /\d+ messages dropped by a policy/,
    run: async (kit) => {
      const audit = kit.system.spawn(stuck(), { name: 'audit', mailbox: bounded(2, 'drop-newest') })
      return watch(kit, 2, () => {
        for (let i = 0; i < 6; i++) audit.tell(i)
      })
    },
  },
  {
    rule: 'retention-held',
    severity: 'warning',
    subject: /^ours$/,
    says: /^15 events of 1 actor would be deleted, and projection totals has not handled them for \d+ s/,
    run: async (other) => {
      const journal = memory({ name: 'ours' })
      await using kit = createTestKit({ logger: false, extensions: [persistence({ journal })] })
      kit.system.spawn(projection({ name: 'totals', handle: () => new Promise(() => {}) }))
      await kit.settle()
      const ref = kit.system.spawn(kept('a'))
      for (let i = 0; i < 20; i++) {
        ref.tell({ type: 'add' })
        await kit.settle()
      }
      await other.advance(1000)
      return await watch(kit, 70)
    },
  },
  {
    rule: 'journal-away',
    severity: 'error',
    subject: /^ours$/,
    says: /^it refuses everything, \d+ groups in a row: a fault was asked for$/,
    run: async (other) => {
      const journal = memory({ name: 'ours', faults: { fail: 1 } })
      await using kit = createTestKit({ logger: false, extensions: [persistence({ journal, whenAway: 'wait' })] })
      kit.system.spawn(counter('a')).tell({ type: 'inc', by: 1 })
      await other.advance(20_000)
      return await watch(kit, 10)
    },
  },
  {
    rule: 'readers-held',
    severity: 'warning',
    subject: /^ours$/,
    says: /^projections and other readers of its events have been held back for 1\d s: a group is not committed$/,
    run: async () => {
      const inner = memory({ name: 'ours' })
      const open: JournalSource['open'] = async (environment) => {
        const journal = await inner.open(environment)
        const began = environment.now()
        const heldBack = () => ({ for: environment.now() - began, why: 'a group is not committed' })
        return new Proxy(journal, {
          get: (target, name) => {
            if (name === 'heldBack') return heldBack()
            const value = Reflect.get(target, name) as unknown
            return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
          },
        })
      }
      await using kit = createTestKit({ logger: false, extensions: [persistence({ journal: { name: 'ours', open } })] })
      expect((await watch(kit, 5)).map(({ rule }) => rule)).toEqual([])
      return await watch(kit, 5)
    },
  },
  {
    rule: 'ledger-off',
    severity: 'error',
    subject: /^ledger$/,
    says: /messages were sent and .* are accounted for/,
    run: async (kit) => {
      const { ledger } = coreOf(kit.system)
      ledger.sent += 3
      const found = await watch(kit, 5)
      ledger.sent -= 3
      return found
    },
  },
]

test('there is a scenario for every rule', () => {
  expect(scenarios.map(({ rule }) => rule).toSorted()).toEqual(ruleNames.toSorted())
})

describe('each finding is earned by a system that deserves it, and says so', () => {
  test.each(scenarios)('$rule', async ({ rule, severity, subject, says, run }) => {
    const kit = createTestKit({ dispatchers: { tight: { throughput: 1 } } })
    const all = await run(kit)
    const found = all.filter((finding) => finding.rule === rule)
    expect(found.map((finding) => finding.rule)).toEqual([rule])
    const [finding] = found
    expect(finding).toMatchObject({ rule, severity })
    expect(finding!.subject).toMatch(subject)
    expect(finding!.sentence).toMatch(says)
    expect(finding!.id).toBe(`${rule}:${finding!.subject}`)
    expect(finding!.docs).toContain(`#${rule}`)
    expect(Object.keys(finding!.evidence).length).toBeGreaterThan(0)
    expect(finding!.since).toBeLessThanOrEqual(coreOf(kit.system).runtime.now())
    for (const child of kit.system.children) kit.system.kill(child)
    await kit.end()
  })
})

describe('a journal', () => {
  test('that another process took over, that cannot be opened, or that takes long is a finding, and one that works is none', async () => {
    const held = heldJournal()
    await using kit = createTestKit({ logger: false, extensions: [persistence({ journal: held })] })
    const ref = kit.system.spawn(counter('a'))
    const said = async (seconds = 1): Promise<readonly string[]> =>
      (await watch(kit, seconds)).filter(({ rule }) => rule === 'journal-away').map(({ severity, sentence }) => `${severity} ${sentence}`)
    expect([await said(), journalsAway(kit.system)]).toEqual([[], []])
    ref.tell({ type: 'inc', by: 1 })
    expect(await said(10)).toEqual(['warning a commit has been under way for 11 s'])
    expect(journalsAway(kit.system)).toEqual([])
    await held.waiting[0]!.end('fenced')
    expect(await said()).toEqual([expect.stringMatching(/^error another process has taken it over/)])
    expect(journalsAway(kit.system)).toEqual(['journal held was taken over by another process'])
  })

  test('that works and has something to tell an operator is a warning', async () => {
    const inner = memory({ name: 'ours' })
    let warning: string | undefined = 'its log only grows'
    const open: JournalSource['open'] = async (given) =>
      new Proxy(await inner.open(given), {
        get(journal, name) {
          const value: unknown = name === 'warning' ? warning : Reflect.get(journal, name)
          return typeof value === 'function' ? (value.bind(journal) as unknown) : value
        },
      })
    await using kit = createTestKit({ logger: false, extensions: [persistence({ journal: { name: 'ours', open } })] })
    kit.system.spawn(counter('a')).tell({ type: 'inc', by: 1 })
    await kit.settle()
    expect(await watch(kit, 1)).toMatchObject([{ id: 'journal-away:ours', severity: 'warning', sentence: 'its log only grows' }])
    expect(journalsAway(kit.system)).toEqual([])
    warning = undefined
    expect(await watch(kit, 1)).toEqual([])
  })

  test('that could not be opened is tried again by whoever asks whether it is away, since without work nobody else does', async () => {
    const inner = memory({ name: 'ours' })
    let away = true
    const open: JournalSource['open'] = (given) => (away ? Promise.reject(new Error('no route\nto host')) : inner.open(given))
    await using kit = createTestKit({ logger: false, extensions: [persistence({ journal: { name: 'ours', open } })] })
    const found = await watch(kit, 1)
    expect(found).toMatchObject([{ id: 'journal-away:ours', severity: 'error', sentence: 'it cannot be opened: no route', view: 'runtime' }])
    expect(journalsAway(kit.system)).toEqual(['journal ours cannot be opened'])
    await kit.settle()
    away = false
    expect(journalsAway(kit.system)).toHaveLength(1)
    await kit.settle()
    expect(journalsAway(kit.system)).toEqual([])
    await expectNoFindings(kit)
  })
})

describe('expectNoFindings', () => {
  test('a system that does its work is left in peace', async () => {
    await using kit = createTestKit()
    const worker = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.timers.every('tick', 300, 'tick')
        return receive((_ctx, m) => {
          if (m === 'fail') throw new Error('once')
          return same
        })
      }),
      { name: 'worker', supervision: supervise({ limit: { restarts: 3, within: 1000 } }) },
    )
    worker.tell('fail')
    await expectNoFindings(kit)
  })

  test('it fails with the sentences of all that was found, and can be told what is meant to be so', async () => {
    await using kit = createTestKit()
    const ref: AnyRef = kit.system.spawn(stuck(), { name: 'slow' })
    ;(ref as ActorRef<string>).tell('x')
    await kit.settle()
    await expect(expectNoFindings(kit, { for: 20_000 })).rejects.toThrow(/Handler pending \/user\/slow: its handler has been waiting for/)
    await expectNoFindings(kit, { for: 20_000, mute: ['handler-pending'] })
    await expectNoFindings(kit, { for: 20_000, mute: ['handler-pending:/user/slow'] })
    kit.system.kill(ref)
  })

  test('whoever looks is not in what it sees', async () => {
    await using kit = createTestKit()
    const before = kit.system.metrics()
    const rounds = new Rounds(kit.system)
    rounds.begin()
    for (let i = 0; i < 12; i++) {
      const { frame } = await rounds.round()
      expect(frame.metrics).toMatchObject({ active: before.active, timers: before.timers, messages: before.messages })
      expect(frame.parts[0]!.rows.length).toBeLessThanOrEqual(1)
      await kit.advance(1000)
    }
    rounds.end()
    expect(kit.system.metrics()).toMatchObject({ active: 0, timers: before.timers, subscriptions: 0 })
  })
})
