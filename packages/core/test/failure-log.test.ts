// What is written about failures, errors that end everything, and what is handed over: BEHAVIOURS 13, 14 and 63.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { ActorError, receive, same, setup, supervise } from '@troupe/core'
import { boom, gate, keeper, type Msg, often, say } from './keeper.ts'

describe('13. the log of failures', () => {
  test('says actor, cause, message type and directive', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { name: 'noisy' })
    const cause = new ActorError('bad card', { severity: 'warn', labels: { shop: '7' } })
    ref.tell(boom(cause))
    await kit.settle()
    expect(kit.logs).toHaveLength(1)
    expect(kit.logs[0]).toMatchObject({
      level: 'warn',
      fields: { actor: '/user/noisy', cause, message: 'boom', directive: 'restart', incarnation: 0, kind: 'transient', labels: { shop: '7' } },
    })
    await kit.end()
  })

  test('a crash loop is not logged once per message when it storms: a few lines, then one that sums up', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: 'resume' })
    for (let i = 0; i < 1000; i++) ref.tell(boom(new Error(`boom ${i}`)))
    await kit.settle()
    expect(kit.logs.length).toBeLessThan(10)
    const lines = kit.logs.length
    await kit.advance(1000)
    expect(kit.logs.slice(lines)).toMatchObject([
      { level: 'error', fields: { actor: ref.path, failures: 1000 - lines, cause: new Error('boom 999') } },
    ])
    // A second storm is told again.
    for (let i = 0; i < 100; i++) ref.tell(boom())
    await kit.advance(1000)
    expect(kit.logs.slice(lines + 1).reduce((n, l) => n + ((l.fields['failures'] as number | undefined) ?? 1), 0)).toBe(100)
    await kit.end()
  })

  test('an actor that ends in a storm has its summary written at the end', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: 'resume' })
    for (let i = 0; i < 50; i++) ref.tell(boom())
    await kit.settle()
    const lines = kit.logs.length
    ref.stop()
    await kit.settle()
    expect(kit.logs.slice(lines)).toMatchObject([{ fields: { failures: 50 - lines } }])
    await kit.end()
  })

  test('a decider that throws is logged, and the actor stops', async () => {
    const kit = createTestKit()
    const broken = new Error('broken decider')
    const ref = kit.system.spawn(keeper(), {
      supervision: supervise({
        decide: () => {
          throw broken
        },
      }),
    })
    ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.logs.map((l) => l.fields['cause'])).toContain(broken)
    await kit.end()
  })
})

describe('14. a fatal error', () => {
  test.each(['restart', 'resume', 'escalate'] as const)('is never restarted, although decide says %s; it counts as fatalStops', async (directive) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { supervision: supervise({ decide: () => directive }) })
    ref.tell(boom(new ActorError('end of the world', { kind: 'fatal' })))
    await kit.advance(1000)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect((await kit.system.whenTerminated(ref)).reason).toBe('failure')
    expect(log.filter((l) => l.startsWith('setup'))).toEqual(['setup 0'])
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1, restarts: 0 })
    expect(kit.system.phase).toBe('open')
    await kit.end()
  })

  test.each([false, true])('in a first start is not retried and counts as a fatal stop, retryStart %s', async (retryStart) => {
    const kit = createTestKit()
    let starts = 0
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        starts++
        throw new ActorError('no licence', { kind: 'fatal' })
      }),
      { supervision: supervise({ retryStart }) },
    )
    await kit.advance(1000)
    expect(starts).toBe(1)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.counts().supervision.fatalStops).toBe(1)
    await kit.end()
  })
})

describe('63. handOver', () => {
  test('in PreRestart reaches the next setup, and only that one', async () => {
    const kit = createTestKit()
    const found: unknown[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        found.push(ctx.handedOver)
        return receive<Msg>(
          (_c, m) => {
            if (m.type === 'boom') throw m.cause
            return same
          },
          (c, s) => {
            if (s.type === 'PreRestart' && c.incarnation === 0) c.handOver({ kept: 'treasure' })
            return same
          },
        )
      }),
      { supervision: often },
    )
    ref.tell(boom())
    ref.tell(boom())
    await kit.settle()
    expect(found).toEqual([undefined, { kept: 'treasure' }, undefined])
    await kit.end()
  })

  test('is lost with a next setup that fails: it reaches only that one', async () => {
    const kit = createTestKit()
    const found: unknown[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        found.push(ctx.handedOver)
        if (ctx.incarnation === 1) throw new Error('choked on it')
        return receive<Msg>(
          () => same,
          (c, s) => {
            if (s.type === 'PreRestart') c.handOver('hot potato')
            return same
          },
        )
      }),
      { supervision: often },
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect(found).toEqual([undefined, 'hot potato', undefined])
    await kit.end()
  })

  test('by a handler that a restart waits for is refused', async () => {
    const kit = createTestKit()
    const held = gate()
    let refused: unknown
    let found: unknown
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        found = ctx.handedOver
        return receive<Msg>(async (c) => {
          await held.promise
          try {
            c.handOver('too early')
          } catch (error) {
            refused = error
          }
          return same
        })
      }),
    )
    ref.tell(say('wait'))
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    held.open()
    await kit.settle()
    expect(refused).toMatchObject({ code: 'not-allowed' })
    expect(found).toBeUndefined()
    await kit.end()
  })

  test('anywhere else is refused', async () => {
    const kit = createTestKit()
    const refused: string[] = []
    const attempt = (ctx: { handOver(value: unknown): void }, place: string): void => {
      try {
        ctx.handOver(1)
      } catch (error) {
        refused.push(`${place} ${(error as { code: string }).code}`)
      }
    }
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        if (ctx.incarnation === 0) attempt(ctx, 'setup')
        return receive<Msg>(
          (c, m) => {
            attempt(c, 'message')
            if (m.type === 'boom') throw m.cause
            return same
          },
          (c, s) => {
            if (s.type === 'PostStop' && c.incarnation === 0) attempt(c, 'PostStop')
            return same
          },
        )
      }),
      { supervision: often },
    )
    ref.tell(boom())
    await kit.settle()
    expect(refused).toEqual(['setup not-allowed', 'message not-allowed', 'PostStop not-allowed'])
    await kit.end()
  })
})
