// The table of DESIGN section 5, written out by hand, phase by phase; and a real actor driven into each of the nine
// phases, to which each control verb is applied.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, InvalidTransition, type Observation, type Phase, receive, same, setup, supervise } from '@troupe/core'
import { on, outcomeOf, type Outcome, type PhaseEvent, phaseTable, quickStart, quickStop, takesMessages, takesSignals } from './phase.ts'

const phases: readonly Phase[] = ['created', 'starting', 'running', 'suspended', 'failed', 'restarting', 'stopping', 'stopped', 'terminated']
const events: readonly PhaseEvent[] = ['start', 'started', 'suspend', 'resume', 'fail', 'restart', 'relaunch', 'stop', 'kill', 'cleaned', 'released']

type Expected = Outcome | 'invalid'

/** Every pair. The columns are the events, in the order of `events`. */
const table: Readonly<Record<Phase, readonly Expected[]>> = {
  //            start       started    suspend      resume     fail       restart       relaunch    stop        kill        cleaned    released
  created: ['starting', 'invalid', 'defer', 'defer', 'invalid', 'defer', 'invalid', 'stopping', 'stopping', 'invalid', 'invalid'],
  starting: ['invalid', 'running', 'defer', 'defer', 'failed', 'defer', 'invalid', 'stopping', 'stopping', 'invalid', 'invalid'],
  running: ['invalid', 'invalid', 'suspended', 'noop', 'failed', 'restarting', 'invalid', 'stopping', 'stopping', 'invalid', 'invalid'],
  suspended: ['invalid', 'invalid', 'noop', 'running', 'failed', 'restarting', 'invalid', 'stopping', 'stopping', 'invalid', 'invalid'],
  failed: ['invalid', 'invalid', 'defer', 'running', 'invalid', 'restarting', 'invalid', 'stopping', 'stopping', 'invalid', 'invalid'],
  restarting: ['invalid', 'invalid', 'defer', 'defer', 'failed', 'noop', 'starting', 'stopping', 'stopping', 'invalid', 'invalid'],
  stopping: ['invalid', 'invalid', 'noop', 'noop', 'invalid', 'noop', 'invalid', 'noop', 'noop', 'stopped', 'invalid'],
  stopped: ['invalid', 'invalid', 'noop', 'noop', 'invalid', 'noop', 'invalid', 'noop', 'noop', 'invalid', 'terminated'],
  terminated: ['invalid', 'invalid', 'noop', 'noop', 'invalid', 'noop', 'invalid', 'noop', 'noop', 'invalid', 'invalid'],
}

describe('several events as one', () => {
  const ways: [string, typeof quickStart, readonly PhaseEvent[]][] = [
    ['the quick start', quickStart, ['start', 'started']],
    ['the quick stop', quickStop, ['stop', 'cleaned', 'released']],
  ]
  for (const [name, way, steps] of ways)
    test(`${name} ends where its steps do, and is refused where one of them is`, () => {
      for (const phase of phases) {
        let expected: Expected = phase
        for (const event of steps) {
          const next: Expected = expected === 'invalid' ? 'invalid' : table[expected as Phase][events.indexOf(event)]!
          expected = next === 'noop' || next === 'defer' ? 'invalid' : next
        }
        if (expected === 'invalid') expect(() => outcomeOf(phase, way)).toThrow(InvalidTransition)
        else expect(outcomeOf(phase, way)).toBe(expected)
      }
      expect(way.steps).toBe(steps.length)
    })
})

describe('the phase table', () => {
  const pairs = phases.flatMap((phase) => events.map((event, i) => ({ phase, event, expected: table[phase][i]! })))

  test('has a row for each of the nine phases and knows no others', () => {
    expect(Object.keys(phaseTable).toSorted()).toEqual(phases.toSorted())
    expect(pairs).toHaveLength(99)
  })

  test.each(pairs)('$phase × $event is $expected', ({ phase, event, expected }) => {
    if (expected === 'invalid') expect(() => outcomeOf(phase, on[event])).toThrow(InvalidTransition)
    else expect(outcomeOf(phase, on[event])).toBe(expected)
  })

  test('leads from each phase exactly where DESIGN section 5 says', () => {
    const reachable = Object.fromEntries(
      phases.map((phase) => [phase, [...new Set(Object.values(phaseTable[phase]))].filter((o) => o !== 'noop' && o !== 'defer').toSorted()]),
    )
    expect(reachable).toEqual({
      created: ['starting', 'stopping'],
      starting: ['failed', 'running', 'stopping'],
      running: ['failed', 'restarting', 'stopping', 'suspended'],
      suspended: ['failed', 'restarting', 'running', 'stopping'],
      failed: ['restarting', 'running', 'stopping'],
      restarting: ['failed', 'starting', 'stopping'],
      stopping: ['stopped'],
      stopped: ['terminated'],
      terminated: [],
    })
  })

  test('an invalid transition names the phase and the event, and says that it is a bug of Troupe', () => {
    expect(() => outcomeOf('terminated', on.start)).toThrow(/terminated.*start.*bug of Troupe/)
  })

  test.each([
    ['created', true],
    ['starting', true],
    ['running', true],
    ['suspended', true],
    ['failed', true],
    ['restarting', true],
    ['stopping', false],
    ['stopped', false],
    ['terminated', false],
  ] as const)('user messages to one that is %s queue: %s', (phase, queues) => {
    expect(takesMessages(phase)).toBe(queues)
  })

  test('signals that run user code are delivered while running, suspended and stopping only', () => {
    expect(phases.filter(takesSignals)).toEqual(['running', 'suspended', 'stopping'])
  })
})

// A real actor, in a real phase.

type Say = { type: 'say'; word: string } | { type: 'boom' } | { type: 'hang' }
type Verb = 'stop' | 'kill' | 'suspend' | 'resume' | 'restart'

interface Staged {
  readonly ref: ActorRef<Say>
  /** What it handled, with its incarnation, and the signals that matter here. */
  readonly heard: string[]
  /** Applies the verb at the right moment, and lets what holds the actor in its phase go afterwards. */
  release(): Promise<void>
}

/** A promise and what settles it. */
function gate(): { promise: Promise<void>; open(): void } {
  let open!: () => void
  const promise = new Promise<void>((resolve) => (open = resolve))
  return { promise, open }
}

function actor(heard: string[], waits: { setup?: Promise<void>; preStop?: Promise<void> } = {}) {
  return setup<Say>(async (ctx) => {
    heard.push(`setup ${ctx.incarnation}`)
    await waits.setup
    return receive<Say>(
      (c, m) => {
        if (m.type === 'boom') throw new Error('boom')
        if (m.type === 'say') heard.push(`${m.word} ${c.incarnation}`)
        return same
      },
      (_c, s) => {
        if (s.type === 'PreStop' && waits.preStop !== undefined) return waits.preStop
        return same
      },
    )
  })
}

/** Brings an actor into a phase and keeps it there until `release`. */
async function stage(kit: TestKit, phase: Phase): Promise<Staged> {
  const heard: string[] = []
  const held = gate()
  const nothing = (): Promise<void> => kit.settle()
  const opened = (): Promise<void> => {
    held.open()
    return kit.advance(1000)
  }
  switch (phase) {
    case 'created': {
      const ref = kit.system.spawn(actor(heard))
      return { ref, heard, release: nothing }
    }
    case 'starting': {
      const ref = kit.system.spawn(actor(heard, { setup: held.promise }))
      await kit.settle()
      return { ref, heard, release: opened }
    }
    case 'running': {
      const ref = kit.system.spawn(actor(heard))
      await kit.settle()
      return { ref, heard, release: nothing }
    }
    case 'suspended': {
      const ref = kit.system.spawn(actor(heard))
      kit.system.suspend(ref, 'a test')
      await kit.settle()
      return { ref, heard, release: nothing }
    }
    case 'failed': {
      // The parent is told to restart, but waits for its own handler: the child stays failed meanwhile.
      let ref!: ActorRef<Say>
      const parent = kit.system.spawn(
        setup<Say>((ctx) => {
          if (ctx.incarnation === 0) ref = ctx.spawn(actor(heard), { supervision: 'escalate' })
          return receive<Say>(async () => {
            await held.promise
            return same
          })
        }),
        { stopTimeout: 100_000 },
      )
      parent.tell({ type: 'hang' })
      await kit.settle()
      ref.tell({ type: 'boom' })
      await kit.settle()
      return { ref, heard, release: nothing }
    }
    case 'restarting': {
      const ref = kit.system.spawn(actor(heard), { supervision: supervise({ backoff: { min: 500, max: 500, jitter: 0 } }) })
      ref.tell({ type: 'boom' })
      await kit.settle()
      return { ref, heard, release: opened }
    }
    case 'stopping': {
      const ref = kit.system.spawn(actor(heard, { preStop: held.promise }))
      await kit.settle()
      ref.stop()
      await kit.settle()
      return { ref, heard, release: opened }
    }
    case 'stopped':
    case 'terminated': {
      const ref = kit.system.spawn(actor(heard))
      await kit.settle()
      if (phase === 'terminated') {
        ref.stop()
        await kit.settle()
      }
      return { ref, heard, release: nothing }
    }
  }
}

function apply(kit: TestKit, verb: Verb, ref: ActorRef<Say>): void {
  if (verb === 'suspend') kit.system.suspend(ref, 'a test')
  else kit.system[verb](ref)
}

const end = (reason: string) => `terminated ${reason}`
const running = (incarnation: number) => `running ${incarnation}`

/** What an actor of that phase is, once the verb has acted and nothing holds it back any more. */
const outcomes: Readonly<Record<Phase, Readonly<Record<Verb, string>>>> = {
  created: { stop: end('normal'), kill: end('killed'), suspend: 'suspended 0', resume: running(0), restart: running(1) },
  starting: { stop: end('normal'), kill: end('killed'), suspend: 'suspended 0', resume: running(0), restart: running(1) },
  running: { stop: end('normal'), kill: end('killed'), suspend: 'suspended 0', resume: running(0), restart: running(1) },
  suspended: { stop: end('normal'), kill: end('killed'), suspend: 'suspended 0', resume: running(0), restart: running(1) },
  failed: { stop: end('normal'), kill: end('killed'), suspend: 'failed 0', resume: running(0), restart: running(1) },
  restarting: { stop: end('normal'), kill: end('killed'), suspend: 'suspended 1', resume: running(1), restart: running(1) },
  stopping: { stop: end('normal'), kill: end('killed'), suspend: end('normal'), resume: end('normal'), restart: end('normal') },
  stopped: { stop: end('normal'), kill: end('normal'), suspend: end('normal'), resume: end('normal'), restart: end('normal') },
  terminated: { stop: end('normal'), kill: end('normal'), suspend: end('normal'), resume: end('normal'), restart: end('normal') },
}

describe('a real actor', () => {
  const verbs: readonly Verb[] = ['stop', 'kill', 'suspend', 'resume', 'restart']
  const rows = phases.flatMap((phase) => verbs.map((verb) => ({ phase, verb, outcome: outcomes[phase][verb] })))

  test.each(rows)('that is $phase and told to $verb ends up $outcome', async ({ phase, verb, outcome }) => {
    const kit = createTestKit()
    const staged = await stage(kit, phase)
    const { ref } = staged
    if (phase === 'stopped') {
      // A cell is `stopped` only inside one turn: the listener is in it.
      let seen = false
      const listening = kit.system.events.listen((event) => {
        const o = event as Observation
        if (o.type !== 'actor.phase' || o.ref !== ref || o.to !== 'stopped') return
        seen = true
        expect(kit.system.phaseOf(ref)).toBe('stopped')
        apply(kit, verb, ref)
      })
      ref.stop()
      await kit.settle()
      expect(seen).toBe(true)
      listening.cancel()
    } else {
      expect(kit.system.phaseOf(ref)).toBe(phase)
      apply(kit, verb, ref)
    }
    await kit.settle()
    await staged.release()
    const now = kit.system.phaseOf(ref)
    if (now === 'terminated') expect(end((await kit.system.whenTerminated(ref)).reason)).toBe(outcome)
    else expect(`${now} ${(await kit.system.inspect(ref)).incarnation}`).toBe(outcome)
    await kit.end()
  })

  test.each(phases)('that is %s queues or dead-letters user messages as the table says', async (phase) => {
    const kit = createTestKit()
    const staged = await stage(kit, phase)
    const { ref, heard } = staged
    const dead = (): number => kit.system.deadLetters.count
    const said = (): boolean => heard.some((h) => h.startsWith('hello'))
    if (phase === 'stopped') {
      kit.system.events.listen((event) => {
        const o = event as Observation
        if (o.type === 'actor.phase' && o.ref === ref && o.to === 'stopped') ref.tell({ type: 'say', word: 'hello' })
      })
      ref.stop()
    } else ref.tell({ type: 'say', word: 'hello' })
    if (phase !== 'created') await kit.settle()
    switch (phase) {
      case 'stopping':
      case 'stopped':
      case 'terminated':
        expect(dead()).toBe(1)
        break
      case 'running':
        expect(said()).toBe(true)
        break
      default:
        expect(said()).toBe(false)
        expect((await kit.system.inspect(ref)).queued).toBe(1)
    }
    await staged.release()
    if (phase === 'suspended' || phase === 'failed') {
      kit.system.resume(ref)
      await kit.settle()
    }
    expect(said()).toBe(phase !== 'stopping' && phase !== 'stopped' && phase !== 'terminated')
    expect(heard.filter((h) => h.startsWith('hello')).length + dead()).toBe(1)
    await kit.end()
  })

  test.each(['stop', 'kill'] as const)('told to %s before its first turn never runs its setup', async (verb) => {
    const kit = createTestKit()
    const { ref, heard } = await stage(kit, 'created')
    apply(kit, verb, ref)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(heard).toEqual([])
    await kit.end()
  })
})
