// The decision about a failure, as the pure function it is: kinds, limits, windows, backoff, and deciders that misbehave.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ActorError, type AnyRef, type Directive, type FailureContext, InvalidOption, type SupervisionPolicy } from '@troupe/core'
import { backoffDelay, decideFailure, defaultPolicy, type Decision, FailureHistory, policyOf, supervise } from './supervision.ts'

const child = { path: '/user/a' } as unknown as AnyRef
const even = (): number => 0.5
const plain = new Error('plain')

/** Fails an actor under one policy again and again, keeping its history. */
class Subject {
  readonly history = new FailureHistory()
  readonly #policy: SupervisionPolicy
  constructor(policy: SupervisionPolicy) {
    this.#policy = policy
  }
  fail(now: number, cause: unknown = plain, more: { runningSince?: number; starting?: boolean; message?: unknown } = {}): Decision {
    const { runningSince, starting = false, message } = more
    return decideFailure(this.#policy, { cause, child, message, now, runningSince, starting }, this.history, even)
  }
}

const steady = { min: 10, max: 10, factor: 1, jitter: 0 }

describe('without decide', () => {
  test.each([
    ['a plain error', plain, 'restart'],
    ['a thrown string', 'oops', 'restart'],
    ['undefined', undefined, 'restart'],
    ['a transient ActorError', new ActorError('x', { kind: 'transient' }), 'restart'],
    ['an ActorError without a kind', new ActorError('x'), 'restart'],
    ['a permanent ActorError', new ActorError('x', { kind: 'permanent' }), 'stop'],
    ['a fatal ActorError', new ActorError('x', { kind: 'fatal' }), 'stop'],
  ] as const)('%s gives %s', (_name, cause, directive) => {
    expect(new Subject(supervise()).fail(0, cause).directive).toBe(directive)
  })

  test('only a fatal error is reported as fatal', () => {
    expect(new Subject(supervise()).fail(0, new ActorError('x', { kind: 'fatal' })).fatal).toBe(true)
    expect(new Subject(supervise()).fail(0, new ActorError('x', { kind: 'permanent' })).fatal).toBe(false)
    expect(new Subject(supervise()).fail(0).fatal).toBe(false)
  })
})

describe('with decide', () => {
  const answers: readonly Directive[] = ['resume', 'restart', 'stop', 'escalate']

  test.each(answers)('%s is done for a plain error', (directive) => {
    expect(new Subject(supervise({ decide: () => directive })).fail(0).directive).toBe(directive)
  })
  test.each(answers)('a fatal error stops although decide says %s', (directive) => {
    const { directive: done, fatal } = new Subject(supervise({ decide: () => directive })).fail(0, new ActorError('x', { kind: 'fatal' }))
    expect(done).toBe('stop')
    expect(fatal).toBe(true)
  })
  test.each([
    ['resume', 'stop'],
    ['restart', 'restart'],
    ['stop', 'stop'],
    ['escalate', 'escalate'],
  ] as const)('a permanent error for which decide says %s gives %s', (said, done) => {
    expect(new Subject(supervise({ decide: () => said })).fail(0, new ActorError('x', { kind: 'permanent' })).directive).toBe(done)
  })

  test('a start that failed cannot be resumed: it stops', () => {
    expect(new Subject(supervise({ decide: () => 'resume' })).fail(0, plain, { starting: true }).directive).toBe('stop')
  })
  test('a decider that throws stops the actor, and what it threw is kept', () => {
    const broken = new Error('broken decider')
    const decision = new Subject(
      supervise({
        decide: () => {
          throw broken
        },
      }),
    ).fail(0)
    expect(decision).toMatchObject({ directive: 'stop', deciderError: broken, limitHit: false })
  })
  test.each([undefined, null, '', 'Restart', 7, {}, ['restart']])('a decider that returns %j stops the actor, and says so', (nonsense) => {
    const decision = new Subject(supervise({ decide: () => nonsense as never })).fail(0)
    expect(decision.directive).toBe('stop')
    expect(decision.deciderError).toBeInstanceOf(InvalidOption)
  })
  test('it is told the child, the message, the failures of the window, its start, and the error before', () => {
    const seen: FailureContext[] = []
    const subject = new Subject(
      supervise({
        limit: { restarts: 9, within: 1000 },
        decide: (_cause, failure) => {
          seen.push(failure)
          return 'restart'
        },
      }),
    )
    subject.fail(100, 'first', { message: 'm1' })
    subject.fail(600, 'second', { message: 'm2' })
    subject.fail(1100, 'third', { message: 'm3' })
    subject.fail(2100, 'fourth', { message: 'm4' })
    expect(seen).toEqual([
      { child, message: 'm1', failures: 1, windowStart: 100, lastError: undefined },
      { child, message: 'm2', failures: 2, windowStart: 100, lastError: 'first' },
      { child, message: 'm3', failures: 2, windowStart: 600, lastError: 'second' },
      { child, message: 'm4', failures: 1, windowStart: 2100, lastError: 'third' },
    ])
  })
  test('failures that were resumed count in what decide is told, but not against the limit of restarts', () => {
    const told: number[] = []
    const subject = new Subject(
      supervise({
        limit: { restarts: 1, within: 1000 },
        decide: (_cause, { failures }) => {
          told.push(failures)
          return failures < 4 ? 'resume' : 'restart'
        },
      }),
    )
    expect([1, 2, 3, 4, 5].map((at) => subject.fail(at).directive)).toEqual(['resume', 'resume', 'resume', 'restart', 'stop'])
    expect(told).toEqual([1, 2, 3, 4, 5])
  })
})

describe('the limit', () => {
  test('n restarts are allowed within the window; failure n+1 triggers onLimit', () => {
    const subject = new Subject(supervise({ limit: { restarts: 2, within: 1000 }, backoff: steady }))
    expect(subject.fail(0)).toMatchObject({ directive: 'restart', limitHit: false })
    expect(subject.fail(10)).toMatchObject({ directive: 'restart', limitHit: false })
    expect(subject.fail(20)).toMatchObject({ directive: 'stop', limitHit: true, delay: 0 })
  })
  test('onLimit escalate escalates', () => {
    const subject = new Subject(supervise({ limit: { restarts: 0, within: 1000 }, onLimit: 'escalate' }))
    expect(subject.fail(0)).toMatchObject({ directive: 'escalate', limitHit: true })
  })
  test('the window slides: a restart counts until it is `within` old, and not longer', () => {
    const subject = new Subject(supervise({ limit: { restarts: 2, within: 100 }, onLimit: 'escalate' }))
    const directives = [0, 90, 99, 100, 189, 190, 199, 200].map((at) => subject.fail(at).directive)
    expect(directives).toEqual(['restart', 'restart', 'escalate', 'restart', 'escalate', 'restart', 'escalate', 'restart'])
  })
  test('a restart that was refused does not count', () => {
    const subject = new Subject(supervise({ limit: { restarts: 1, within: 100 }, onLimit: 'escalate' }))
    expect([0, 50, 99, 100].map((at) => subject.fail(at).directive)).toEqual(['restart', 'escalate', 'escalate', 'restart'])
  })
  test('restarts that a re-entrant decide led to are counted before the limit is judged', () => {
    const policy = supervise({
      limit: { restarts: 1, within: 100 },
      decide: (cause) => {
        if (cause === 'outer') expect(subject.fail(0, 'inner').directive).toBe('restart')
        return 'restart'
      },
    })
    const subject = new Subject(policy)
    expect(subject.fail(0, 'outer')).toMatchObject({ directive: 'stop', limitHit: true })
  })
  test('a stop or an escalation that decide asked for is no hit of the limit', () => {
    const subject = new Subject(supervise({ limit: { restarts: 0, within: 100 }, decide: () => 'escalate' }))
    expect(subject.fail(0).limitHit).toBe(false)
  })
  test("an ActorError's own retry overrides the policy's limit", () => {
    const cause = new ActorError('x', { retry: { max: 1, within: 50 } })
    const subject = new Subject(supervise({ limit: { restarts: 100, within: 1000 } }))
    expect(subject.fail(0, cause).directive).toBe('restart')
    expect(subject.fail(10, cause)).toMatchObject({ directive: 'stop', limitHit: true })
    const quiet = new Subject(supervise({ limit: { restarts: 0, within: 1000 } }))
    expect(quiet.fail(0, cause).directive).toBe('restart')
    expect(quiet.fail(60, cause).directive).toBe('restart')
  })
  test('retry max 0 means never again', () => {
    expect(new Subject(supervise()).fail(0, new ActorError('x', { retry: { max: 0, within: 1 } })).directive).toBe('stop')
  })

  test('C6: whatever the times, no window sees more than n restarts, and none is refused that there was room for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 500 }),
        fc.array(
          fc.tuple(fc.integer({ min: 0, max: 300 }), fc.option(fc.record({ max: fc.nat({ max: 4 }), within: fc.integer({ min: 1, max: 900 }) }))),
          {
            maxLength: 60,
          },
        ),
        (restarts, within, steps) => {
          const subject = new Subject(supervise({ limit: { restarts, within }, onLimit: 'escalate' }))
          const granted: number[] = []
          let now = 0
          for (const [gap, retry] of steps) {
            now += gap
            const limit = retry ?? { max: restarts, within }
            const { directive, limitHit } = subject.fail(now, retry === null ? plain : new ActorError('x', { retry }))
            const room = granted.filter((t) => t > now - limit.within).length < limit.max
            expect(directive).toBe(room ? 'restart' : 'escalate')
            expect(limitHit).toBe(!room)
            if (room) granted.push(now)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('backoff', () => {
  const policy = supervise({ limit: { restarts: 100, within: 1000 }, backoff: { min: 10, max: 1000, factor: 2, jitter: 0 } })

  test('doubles from min and is clamped to max', () => {
    const subject = new Subject(policy)
    const delays = Array.from({ length: 9 }, (_, i) => subject.fail(i).delay)
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 1000, 1000])
  })
  test('starts again from min after the incarnation ran for a quiet within', () => {
    const subject = new Subject(policy)
    subject.fail(0)
    expect(subject.fail(10, plain, { runningSince: 5 }).delay).toBe(20)
    expect(subject.fail(1009, plain, { runningSince: 10 }).delay).toBe(40)
    expect(subject.fail(2009, plain, { runningSince: 1009 }).delay).toBe(10)
  })
  test('a quiet time ends the row also when the failure after it was resumed', () => {
    const decide = (cause: unknown): Directive => (cause === 'small' ? 'resume' : 'restart')
    const subject = new Subject(supervise({ decide, limit: policy.limit, backoff: policy.backoff }))
    expect([subject.fail(0).delay, subject.fail(1).delay]).toEqual([10, 20])
    subject.fail(2000, 'small', { runningSince: 100 })
    expect(subject.fail(2001, plain, { runningSince: 100 }).delay).toBe(10)
  })
  test('a start that never came up is never quiet, however long it took', () => {
    const subject = new Subject(policy)
    subject.fail(0, plain, { starting: true })
    expect(subject.fail(100_000, plain, { starting: true }).delay).toBe(20)
  })
  test('only a restart waits', () => {
    for (const directive of ['resume', 'stop', 'escalate'] as const) expect(new Subject(supervise({ decide: () => directive })).fail(0).delay).toBe(0)
  })
  test('jitter varies the delay by that share, both ways', () => {
    const backoff = { min: 100, max: 100, factor: 1, jitter: 0.1 }
    expect(backoffDelay(backoff, 1, () => 0)).toBeCloseTo(90)
    expect(backoffDelay(backoff, 1, () => 0.5)).toBeCloseTo(100)
    expect(backoffDelay(backoff, 1, () => 1)).toBeCloseTo(110)
  })

  test('is in the middle where a runtime is wrong about chance', () => {
    const backoff = { min: 100, max: 1000, factor: 2, jitter: 0.5 }
    const throwing = (): number => {
      throw new Error('no chance')
    }
    for (const random of [() => NaN, () => Infinity, () => -1, () => 'x' as never, throwing]) expect(backoffDelay(backoff, 1, random)).toBe(100)
  })
  test('is a finite number between the jittered bounds for every policy and attempt, and never falls without jitter', () => {
    const backoffs = fc
      .record({
        a: fc.double({ min: 0, max: 1e6, noNaN: true }),
        b: fc.double({ min: 0, max: 1e6, noNaN: true }),
        factor: fc.double({ min: 1, max: 1e3, noNaN: true }),
      })
      .map(({ a, b, factor }) => ({ min: Math.min(a, b), max: Math.max(a, b), factor }))
    fc.assert(
      fc.property(
        backoffs,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (b, jitter, attempt, r) => {
          const delay = backoffDelay({ ...b, jitter }, attempt, () => r)
          expect(Number.isFinite(delay)).toBe(true)
          expect(delay).toBeGreaterThanOrEqual(b.min * (1 - jitter) - 1e-6)
          expect(delay).toBeLessThanOrEqual(b.max * (1 + jitter) + 1e-6)
          const still = { ...b, jitter: 0 }
          expect(backoffDelay(still, attempt + 1, even)).toBeGreaterThanOrEqual(backoffDelay(still, attempt, even))
        },
      ),
      { numRuns: 300 },
    )
  })
  test('without a minimum it stays without a delay, also after thousands of attempts', () => {
    expect(backoffDelay({ min: 0, max: 1000, factor: 2, jitter: 0 }, 5000, even)).toBe(0)
  })
})

describe('supervise', () => {
  test('left to itself restarts, 3 in 1 s, backoff 10 ms to 1 s doubling, then stops', () => {
    expect(supervise()).toEqual({
      decide: undefined,
      limit: { restarts: 3, within: 1000 },
      onLimit: 'stop',
      backoff: { min: 10, max: 1000, factor: 2, jitter: 0.1 },
      scope: 'one-for-one',
      retryStart: false,
    })
    expect(defaultPolicy).toEqual(supervise())
  })
  test.each([
    ['limit.restarts', { limit: { restarts: -1, within: 1 } }],
    ['limit.restarts', { limit: { restarts: 1.5, within: 1 } }],
    ['limit.restarts', { limit: { restarts: NaN, within: 1 } }],
    ['limit.within', { limit: { restarts: 1, within: 0 } }],
    ['limit.within', { limit: { restarts: 1, within: -1 } }],
    ['limit.within', { limit: { restarts: 1, within: NaN } }],
    ['limit.within', { limit: { restarts: 1, within: Infinity } }],
    ['backoff.min', { backoff: { min: 11, max: 10 } }],
    ['backoff.min', { backoff: { min: -1 } }],
    ['backoff.min', { backoff: { min: NaN } }],
    ['backoff.max', { backoff: { max: Infinity } }],
    ['backoff.factor', { backoff: { factor: 0.5 } }],
    ['backoff.factor', { backoff: { factor: NaN } }],
    ['backoff.jitter', { backoff: { jitter: 1.1 } }],
    ['backoff.jitter', { backoff: { jitter: -0.1 } }],
    ['backoff.jitter', { backoff: { jitter: NaN } }],
    ['onLimit', { onLimit: 'restart' }],
    ['scope', { scope: 'everyone' }],
    ['decide', { decide: 'restart' }],
    ['retryStart', { retryStart: 'yes' }],
  ] as const)('refuses a wrong %s by its name: %j', (option, options) => {
    let thrown: unknown
    try {
      supervise(options as never)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'invalid-option', option })
  })
  test.each([
    ['restart', 'restart'],
    ['stop', 'stop'],
    ['resume', 'resume'],
    ['escalate', 'escalate'],
  ] as const)("the word '%s' is a policy that gives %s", (word, directive) => {
    expect(new Subject(policyOf(word, supervise(), 'supervision')).fail(0).directive).toBe(directive)
  })
  test("'inherit' and nothing give what is inherited; nonsense is refused by the option's name", () => {
    const inherited = supervise({ limit: { restarts: 7, within: 7 } })
    expect(policyOf('inherit', inherited, 'supervision')).toBe(inherited)
    expect(policyOf(undefined, inherited, 'supervision')).toBe(inherited)
    expect(() => policyOf('retry' as never, inherited, 'supervision')).toThrow(/supervision/)
    expect(() => policyOf(null as never, inherited, 'supervision')).toThrow(InvalidOption)
  })
})

describe('ActorError', () => {
  test('keeps what it says about itself', () => {
    const cause = new Error('inner')
    const error = new ActorError('bad card', { kind: 'permanent', severity: 'warn', labels: { shop: '7' }, cause })
    expect(error).toMatchObject({
      code: 'actor-error',
      kind: 'permanent',
      severity: 'warn',
      labels: { shop: '7' },
      retry: undefined,
      cause,
      message: 'bad card',
      name: 'ActorError',
    })
    expect(new ActorError('x')).toMatchObject({ kind: 'transient', severity: 'error', labels: {} })
  })
  test.each([
    ['a fatal one with retry', { kind: 'fatal', retry: { max: 1, within: 10 } }],
    ['a negative retry.max', { retry: { max: -1, within: 10 } }],
    ['a fractional retry.max', { retry: { max: 0.5, within: 10 } }],
    ['a zero retry.within', { retry: { max: 1, within: 0 } }],
    ['a NaN retry.within', { retry: { max: 1, within: NaN } }],
    ['an endless retry.within', { retry: { max: 1, within: Infinity } }],
    ['an unknown kind', { kind: 'odd' }],
    ['an unknown severity', { severity: 'loud' }],
  ] as const)('refuses %s at construction', (_name, options) => {
    expect(() => new ActorError('x', options as never)).toThrow(InvalidOption)
  })
})
