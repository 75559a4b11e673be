// C4, C6 and C7 under random failures, restarts and stops. A counterexample prints its seed and path; with those two
// given to fast-check the very same run comes again.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { fc } from './properties.ts'
import { expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  type Observation,
  receive,
  same,
  setup,
  type SpawnOptions,
  stopped,
  supervise,
} from '@troupe/core'

type Act = { type: 'boom' } | { type: 'wait' } | { type: 'end' } | { type: 'spawn' }
type Verb = 'stop' | 'kill' | 'suspend' | 'resume' | 'restart'

const target = fc.nat({ max: 20 })
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('tell' as const), to: target, what: fc.constantFrom<Act['type']>('boom', 'wait', 'end', 'spawn') }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom<Verb>('stop', 'kill', 'suspend', 'resume', 'restart'), to: target }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const), ok: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 1, 10, 100, 6000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Far more lives than any honest run has. Without a bound a tree that never stops growing would take the memory of all tests with it. */
const mostLives = 2000

/** A tree that grows, fails, waits and ends as the steps say; everything it sees is in `lives`. */
class Grove {
  /** What each incarnation saw, by uid and incarnation. */
  readonly lives = new Map<string, string[]>()
  readonly refs: ActorRef<Act>[] = []
  readonly wrongs: string[] = []
  readonly #kit: TestKit
  readonly #supervisions
  readonly #flaws: readonly boolean[]
  #drawn = 0
  readonly #waiting: { resolve: () => void; reject: (cause: unknown) => void }[] = []

  constructor(kit: TestKit, flaws: readonly boolean[]) {
    this.#kit = kit
    this.#flaws = flaws
    const backoff = { min: 5, max: 20, jitter: 0 }
    this.#supervisions = [
      supervise({ backoff, retryStart: true }),
      supervise({ decide: () => 'resume' }),
      supervise({ limit: { restarts: 1, within: 100 }, backoff, onLimit: 'escalate' }),
      supervise({ decide: () => 'escalate' }),
      supervise({ decide: () => 'stop' }),
    ]
  }
  #draw(): number {
    return this.#drawn++
  }
  #flaw(): boolean {
    return this.#flaws[this.#draw() % this.#flaws.length] ?? false
  }
  #wait(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }
  settleOne(ok: boolean): void {
    const call = this.#waiting.shift()
    if (ok) call?.resolve()
    else call?.reject(new Error('rejected'))
  }
  seed(): void {
    const options = this.options()
    this.refs.push(this.#kit.system.spawn(this.plant(2, options), options))
  }
  #grow(ctx: ActorContext<Act>, depth: number): void {
    const options = this.options()
    this.refs.push(ctx.spawn(this.plant(depth, options), options))
  }
  plant(depth: number, { onRestart }: SpawnOptions): Behavior<Act> {
    return setup<Act>((ctx) => {
      const key = `${ctx.self.uid}/${ctx.incarnation}`
      const life: string[] = []
      this.lives.set(key, life)
      if (this.lives.size > mostLives) {
        if (this.wrongs.length === 0) this.wrongs.push(`the tree grows without end at ${this.#kit.clock.now} ms: ${key} is the last`)
        return stopped
      }
      if (depth > 0) this.#grow(ctx, depth - 1)
      if (this.#flaw()) throw new Error('bad setup')
      const ready = receive<Act>(
        (c, m) => {
          if (life.includes('PostStop')) this.wrongs.push(`${key} handled a message after PostStop`)
          switch (m.type) {
            case 'boom':
              throw new Error('boom')
            case 'wait':
              return this.#wait()
            case 'end':
              return stopped
            case 'spawn':
              this.#grow(c, 0)
              return same
          }
        },
        (c, s) => {
          if (life.includes('PostStop')) this.wrongs.push(`${key} heard ${s.type} after PostStop`)
          life.push(s.type)
          const keeps = onRestart?.children === 'keep' && life.includes('PreRestart') && !life.includes('PreStop')
          if (s.type === 'PostStop' && c.children.length > 0 && !keeps) this.wrongs.push(`${key} ended before its children`)
          if (this.#flaw()) throw new Error(`bad ${s.type}`)
          return this.#flaw() ? this.#wait() : same
        },
      )
      return this.#flaw() ? this.#wait().then(() => ready) : ready
    })
  }
  options(): SpawnOptions {
    const n = this.#draw()
    const scope = n % 4 === 1 ? 'all-for-one' : 'rest-for-one'
    return {
      supervision: this.#supervisions[n % this.#supervisions.length],
      childSupervision: n % 2 === 0 ? undefined : supervise({ scope, backoff: { min: 5, max: 20, jitter: 0 } }),
      onRestart: { children: n % 7 === 0 ? 'keep' : 'stop', mailbox: n % 11 === 0 ? 'clear' : 'keep' },
      reentrant: n % 13 === 0,
      stopTimeout: 50,
      startTimeout: 50,
    }
  }
  take(s: Step): Promise<void> | void {
    if (s.do === 'settle') return this.settleOne(s.ok)
    if (s.do === 'turn') return this.#kit.settle()
    if (s.do === 'advance') return this.#kit.advance(s.ms)
    const ref = this.refs[s.to % this.refs.length]!
    if (s.do === 'tell') ref.tell({ type: s.what })
    else if (s.do === 'suspend') this.#kit.system.suspend(ref, 'a test')
    else this.#kit.system[s.do](ref)
  }
}

/** A kept child failed up to its parent's backoff again and again, and was restarted each time at once. */
const endlessOnce: [Step[], boolean[]] = [
  [
    { do: 'tell', to: 19, what: 'end' },
    { do: 'settle', ok: true },
    { do: 'turn' },
    { do: 'settle', ok: false },
    { do: 'advance', ms: 0 },
    { do: 'settle', ok: true },
  ],
  [false, false, false, true, false, false, true, false],
]

test('C4: PostStop runs exactly once per incarnation that saw PreStart, and after all children have ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (steps, flaws) => {
      const kit = createTestKit({ onEscalation: 'stop' })
      const grove = new Grove(
        kit,
        flaws.map((f, i) => f && i % 3 === 0),
      )
      grove.seed()
      grove.seed()
      for (const s of steps) {
        await grove.take(s)
        await kit.checkLedger()
      }
      // Nobody is stuck on the way: what holds it up is bounded.
      await kit.advance(10_000)
      const stuck = grove.refs.map((r) => kit.system.phaseOf(r)).filter((p) => p !== 'running' && p !== 'suspended' && p !== 'terminated')
      expect(stuck).toEqual([])
      await kit.end()
      expect(grove.wrongs).toEqual([])
      for (const [key, life] of grove.lives) {
        const starts = life.filter((l) => l === 'PreStart').length
        const ends = life.filter((l) => l === 'PostStop').length
        expect({ key, life, ends }).toEqual({ key, life, ends: starts })
        expect(life.filter((l) => l === 'PreRestart' || l === 'PreStop').length).toBeLessThanOrEqual(2)
        if (ends === 1) expect(life.at(-1)).toBe('PostStop')
      }
      expect(grove.refs.map((r) => kit.system.phaseOf(r)).filter((p) => p !== 'terminated')).toEqual([])
      expect(kit.logs.filter((l) => l.message === 'a turn broke')).toEqual([])
    }),
    { numRuns: 300, examples: [endlessOnce] },
  )
})

test('C6: at most n restarts in any window, failed starts included, then onLimit', async () => {
  const run = fc.record({
    restarts: fc.integer({ min: 0, max: 4 }),
    within: fc.constantFrom(50, 200, 1000),
    min: fc.constantFrom(0, 5, 30),
    gaps: fc.array(fc.constantFrom(0, 1, 20, 100, 500), { maxLength: 30 }),
    badStarts: fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
  })
  await fc.assert(
    fc.asyncProperty(run, async ({ restarts, within, min, gaps, badStarts }) => {
      const kit = createTestKit()
      let starts = 0
      const failures: { at: number; directive: string }[] = []
      kit.system.events.listen((event) => {
        const o = event as Observation
        if (o.type === 'actor.failed') failures.push({ at: kit.clock.now, directive: o.directive })
      })
      const ref = kit.system.spawn(
        setup<'boom'>(() => {
          if (starts++ > 0 && badStarts[starts % badStarts.length]!) throw new Error('bad start')
          return receive<'boom'>(() => {
            throw new Error('boom')
          })
        }),
        { supervision: supervise({ limit: { restarts, within }, backoff: { min, max: 100, jitter: 0 } }) },
      )
      for (const gap of gaps) {
        ref.tell('boom')
        await kit.advance(gap)
      }
      await kit.settle()
      const granted: number[] = []
      for (const [i, { at, directive }] of failures.entries()) {
        const inWindow = granted.filter((t) => at - t < within).length
        expect(directive).toBe(inWindow < restarts ? 'restart' : 'stop')
        if (directive === 'stop') expect(i).toBe(failures.length - 1)
        granted.push(at)
      }
      const ended = failures.at(-1)?.directive === 'stop'
      expect(kit.system.phaseOf(ref) === 'terminated').toBe(ended)
      const restarted = failures.filter((f) => f.directive === 'restart').length
      expect(kit.system.counts().supervision).toMatchObject({ restarts: restarted, limitsHit: ended ? 1 : 0 })
      const waits = kit.system.phaseOf(ref) === 'restarting' ? 1 : 0
      expect(starts).toBe(1 + restarted - waits)
      await kit.end()
    }),
    { numRuns: 300 },
  )
})

test('C7: through its context nothing of an incarnation reaches the next', async () => {
  type Told = { type: 'from'; life: number } | { type: 'do'; what: 'once' | 'every' | 'ask' | 'pipe' | 'adapt' | 'timeout' | 'boom' | 'hang' }
  type Question = { type: 'q'; replyTo: ActorRef<number> }
  const deed = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('once', 'every', 'ask', 'pipe', 'adapt', 'timeout') }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('boom', 'hang') }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('restart', 'answer', 'resolve', 'reject', 'use adapters') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(0, 3, 10, 40) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 40 }), async (deeds) => {
      const kit = createTestKit()
      const strays: string[] = []
      const questions: ActorRef<number>[] = []
      const promises: { resolve: () => void; reject: () => void }[] = []
      const adapters: ActorRef<number>[] = []
      const later = (): Promise<void> => new Promise((resolve, reject) => promises.push({ resolve, reject: () => reject(new Error('no')) }))
      const oracle = kit.system.spawn(
        receive<Question>((_c, m) => {
          questions.push(m.replyTo)
          return same
        }),
      )
      const ref = kit.system.spawn(
        setup<Told>((ctx) => {
          const life = ctx.incarnation
          const mine = (): Told => ({ type: 'from', life })
          let silence = false
          return receive<Told>(
            (c, m) => {
              if (c.incarnation !== life) strays.push(`behavior of ${life} in ${c.incarnation}`)
              if (m.type === 'from') {
                if (m.life !== life) strays.push(`message of ${m.life} in ${life}`)
                return same
              }
              switch (m.what) {
                case 'once':
                  c.timers.once('a', 7, mine())
                  return same
                case 'every':
                  c.timers.every('b', 5, mine())
                  return same
                case 'ask':
                  c.pipeToSelf(c.ask(oracle, { type: 'q' }, { timeout: 20 }), mine, mine)
                  return same
                case 'pipe':
                  c.pipeToSelf(later(), mine, mine)
                  return same
                case 'adapt':
                  adapters.push(c.adapt(mine))
                  return same
                case 'timeout':
                  silence = true
                  c.setReceiveTimeout(6)
                  return same
                case 'boom':
                  throw new Error('boom')
                case 'hang':
                  return later()
              }
            },
            (_c, s) => {
              if (s.type !== 'ReceiveTimeout') return same
              if (!silence) strays.push(`ReceiveTimeout in ${life}, which asked for none`)
              return same
            },
          )
        }),
        { supervision: supervise({ limit: { restarts: 1000, within: 1 }, backoff: { min: 2, max: 8, jitter: 0 } }), stopTimeout: 10 },
      )
      for (const d of deeds) {
        switch (d.do) {
          case 'restart':
            kit.system.restart(ref)
            break
          case 'answer':
            questions.shift()?.tell(1)
            break
          case 'resolve':
            promises.shift()?.resolve()
            break
          case 'reject':
            promises.shift()?.reject()
            break
          case 'use adapters':
            for (const adapter of adapters) adapter.tell(1)
            break
          case 'advance':
            await kit.advance((d as { ms: number }).ms)
            break
          default:
            ref.tell({ type: 'do', what: d.do as 'boom' })
        }
      }
      await kit.advance(50)
      expect(strays).toEqual([])
      await kit.end()
    }),
    { numRuns: 300 },
  )
})
