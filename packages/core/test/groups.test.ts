// Group scopes by the parent's childSupervision, and whose policy holds for whom.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { Actor, ActorSystem, type ActorRef, ignore, InvalidOption, receive, same, setup, supervise, withOptions } from '@troupe/core'
import { boom, gate, type Msg, say } from './keeper.ts'
import { group, scoped } from './siblings.ts'

describe('a group scope', () => {
  test.each([
    ['one-for-one', ['running 0', 'running 1', 'running 0']],
    ['all-for-one', ['running 1', 'running 1', 'running 1']],
    ['rest-for-one', ['running 0', 'running 1', 'running 1']],
  ] as const)('%s restarts those it names when the second of three fails', async (scope, states) => {
    const kit = createTestKit()
    const g = await group(kit, scoped(scope))
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(states)
    await kit.end()
  })

  test.each([
    ['one-for-one', ['running 0', 'terminated', 'running 0']],
    ['all-for-one', ['terminated', 'terminated', 'terminated']],
    ['rest-for-one', ['running 0', 'terminated', 'terminated']],
  ] as const)('%s stops those it names when the directive is stop', async (scope, states) => {
    const kit = createTestKit()
    const g = await group(kit, scoped(scope, { decide: () => 'stop' }))
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(states)
    await kit.end()
  })

  test('stops the group when the limit is hit; the siblings end by shutdown, the failing one by failure', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one', { limit: { restarts: 1, within: 1000 } }))
    const ends = Promise.all(g.children.map((c) => kit.system.whenTerminated(c)))
    g.children[1]!.tell(boom())
    await kit.settle()
    g.children[1]!.tell(boom())
    await kit.settle()
    expect((await ends).map((e) => e.reason)).toEqual(['shutdown', 'failure', 'shutdown'])
    expect(kit.system.phaseOf(g.parent)).toBe('running')
    await kit.end()
  })

  test('restarts siblings with the whole rite, and keeps their mailboxes', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one'))
    g.children[1]!.tell(boom())
    g.children[2]!.tell(say('kept'))
    await kit.settle()
    expect(g.logs['a']).toEqual(['setup 0', 'PreStart', 'PostStart', 'PreRestart', 'PostStop', 'setup 1', 'PreStart', 'PostStart', 'PostRestart'])
    expect(g.logs['c']!.filter((l) => !l.startsWith('P'))).toEqual(['setup 0', 'setup 1', 'kept'])
    await kit.end()
  })

  test('starts siblings again in the order of their birth, after all have ended', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const children: ActorRef<Msg>[] = []
    kit.system.spawn(
      setup<Msg>((ctx) => {
        for (const name of ['a', 'b', 'c', 'd']) {
          const child = setup<Msg>(() => {
            log.push(`${name} starts`)
            return receive<Msg>(
              (_c, m) => {
                if (m.type === 'boom') throw m.cause
                return same
              },
              (_c, s) => {
                if (s.type === 'PostStop') log.push(`${name} ends`)
                return same
              },
            )
          })
          children.push(ctx.spawn(child, { name }))
        }
        return receive<Msg>(() => same)
      }),
      { childSupervision: supervise({ scope: 'all-for-one', backoff: { min: 10, max: 10, jitter: 0 } }) },
    )
    await kit.settle()
    log.length = 0
    children[1]!.tell(boom())
    await kit.advance(10)
    expect(log.slice(4)).toEqual(['a starts', 'b starts', 'c starts', 'd starts'])
    expect(log.slice(0, 4).toSorted()).toEqual(['a ends', 'b ends', 'c ends', 'd ends'])
    await kit.end()
  })

  test.each([
    ['restarts when the slow one has ended', 'settle', ['running 1', 'running 1', 'running 1']],
    ['goes on without the slow one when that is stopped', 'stop', ['running 1', 'running 1', 'terminated']],
    ['goes on without the slow one when that is killed', 'kill', ['running 1', 'running 1', 'terminated']],
    ['cuts off the slow one after its stopTimeout', 'wait', ['running 1', 'running 1', 'running 1']],
  ] as const)('that waits for one whose handler is pending %s', async (_claim, how, states) => {
    const kit = createTestKit()
    const held = gate()
    const g = await group(kit, scoped('all-for-one'), {}, {}, held.promise)
    g.children[2]!.tell(say('wait'))
    await kit.settle()
    g.children[0]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['running 0', 'running 0', 'running 0'])
    expect(g.children.map((c) => kit.system.phaseOf(c))).toEqual(['restarting', 'restarting', 'restarting'])
    if (how === 'settle') held.open()
    else if (how === 'wait') await kit.advance(5000)
    else kit.system[how](g.children[2]!)
    await kit.settle()
    if (how === 'stop') {
      // Its own stop still waits for the handler; the others do not wait for that.
      expect((await g.states()).slice(0, 2)).toEqual(['running 1', 'running 1'])
      held.open()
      await kit.settle()
    }
    expect(await g.states()).toEqual(states)
    expect(g.children.map((c) => kit.system.phaseOf(c)).filter((p) => p === 'restarting')).toEqual([])
    await kit.end()
  })

  test.each([
    ['before the elder fails', true],
    ['after the elder failed', false],
  ])('a group whose member fails on its own, by a grandchild that escalates %s, comes back whole', async (_when, first) => {
    const kit = createTestKit()
    const refs: Record<string, ActorRef<Msg>> = {}
    const log: string[] = []
    const node = (name: string, below?: string) =>
      setup<Msg>((ctx) => {
        log.push(`${name} starts`)
        refs[name] = ctx.self
        if (below !== undefined) ctx.spawn(node(below), { name: below, supervision: 'escalate' })
        return receive<Msg>((_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        })
      })
    kit.system.spawn(
      setup<Msg>((ctx) => {
        for (const name of ['a', 'b', 'c']) ctx.spawn(node(name, name === 'b' ? 'grandchild' : undefined), { name })
        return receive<Msg>(() => same)
      }),
      { childSupervision: scoped('rest-for-one', { limit: { restarts: 10, within: 1000 }, backoff: { min: 10, max: 10, jitter: 0 } }) },
    )
    await kit.settle()
    log.length = 0
    // In one breath: both failures are under way before anybody has acted on either.
    for (const name of first ? ['grandchild', 'a'] : ['a', 'grandchild']) refs[name]!.tell(boom())
    await kit.advance(100)
    expect(['a', 'b', 'c', 'grandchild'].map((name) => kit.system.phaseOf(refs[name]!))).toEqual(['running', 'running', 'running', 'running'])
    refs['a']!.tell(boom())
    await kit.advance(100)
    expect(['a', 'b', 'c', 'grandchild'].map((name) => kit.system.phaseOf(refs[name]!))).toEqual(['running', 'running', 'running', 'running'])
    expect(log.slice(-4).toSorted()).toEqual(['a starts', 'b starts', 'c starts', 'grandchild starts'])
    await kit.end()
  })

  test('a group of 50,000 comes back whole', async () => {
    const kit = createTestKit()
    let starts = 0
    let one: ActorRef<Msg> | undefined
    const member = setup<Msg>(() => {
      starts++
      return receive<Msg>((_c, m) => {
        if (m.type === 'boom') throw m.cause
        return same
      })
    })
    const parent = setup<Msg>((ctx) => {
      for (let i = 0; i < 50_000; i++) one = ctx.spawn(member)
      return receive<Msg>(() => same)
    })
    kit.system.spawn(parent, { childSupervision: scoped('all-for-one') })
    await kit.settle()
    one!.tell(boom())
    await kit.settle()
    expect(starts).toBe(100_000)
    expect(kit.system.phaseOf(one!)).toBe('running')
    await kit.end()
  })

  test('a resumed failure touches nobody else', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one', { decide: () => 'resume' }))
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['running 0', 'running 0', 'running 0'])
    await kit.end()
  })

  test('leaves alone who is gone already; who is suspended is restarted and stays suspended', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one'))
    g.children[0]!.stop()
    kit.system.suspend(g.children[2]!, 'a test')
    await kit.settle()
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['terminated', 'running 1', 'running 1'])
    expect(kit.system.phaseOf(g.children[2]!)).toBe('suspended')
    await kit.end()
  })
})

describe('whose policy holds', () => {
  test("with a group scope a child's own supervision yields to it", async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one'), { b: 'stop' })
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['running 1', 'running 1', 'running 1'])
    await kit.end()
  })

  test("with one-for-one a child's own supervision wins", async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('one-for-one'), { b: 'stop', c: 'resume' })
    for (const child of g.children) child.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['running 1', 'terminated', 'running 0'])
    await kit.end()
  })

  test("'inherit' and nothing take the parent's childSupervision", async () => {
    const kit = createTestKit()
    const g = await group(kit, 'stop', { a: 'inherit' })
    g.children[0]!.tell(boom())
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['terminated', 'terminated', 'running 0'])
    await kit.end()
  })

  test("without childSupervision 'inherit' and nothing take the system's", async () => {
    const kit = createTestKit({ supervision: 'stop' })
    const g = await group(kit, undefined, { a: 'inherit', c: 'resume' })
    for (const child of g.children) child.tell(boom())
    await kit.settle()
    expect(await g.states()).toEqual(['terminated', 'terminated', 'running 0'])
    await kit.end()
  })
})

describe("a group scope in an actor's own supervision is refused, and the error names childSupervision", () => {
  const own = { supervision: supervise({ scope: 'all-for-one' }) }
  class Plain extends Actor {}

  test.each(['all-for-one', 'rest-for-one'] as const)('%s, by spawn, and nobody is spawned', async (scope) => {
    const kit = createTestKit()
    const given = { name: 'it', supervision: supervise({ scope }) }
    expect(() => kit.system.spawn(ignore, given)).toThrow(/supervision.*childSupervision/)
    expect(() => kit.system.spawn(ignore, given)).toThrow(InvalidOption)
    expect(kit.system.find('/user/it')).toBeUndefined()
    await kit.end()
  })

  test('with withOptions, in a child, and for a class', async () => {
    const kit = createTestKit()
    expect(() => kit.system.spawn(withOptions(ignore, own))).toThrow(/childSupervision/)
    expect(() => kit.system.spawn(Plain, own)).toThrow(/childSupervision/)
    const thrown: unknown[] = []
    kit.system.spawn(
      setup<never>((ctx) => {
        try {
          ctx.spawn(ignore, own)
        } catch (cause) {
          thrown.push(cause)
        }
        return ignore
      }),
      { childSupervision: own.supervision },
    )
    await kit.settle()
    expect(thrown).toEqual([expect.objectContaining({ code: 'invalid-option', option: 'supervision' })])
    await kit.end()
  })

  test("as a system's default: it would tie together whoever happens to have the same parent", () => {
    expect(() => ActorSystem.create('grouped', own)).toThrow(/childSupervision/)
  })

  test('a policy made by hand is no way around it', async () => {
    const kit = createTestKit()
    expect(() => kit.system.spawn(ignore, { supervision: { ...supervise(), scope: 'rest-for-one' } })).toThrow(/childSupervision/)
    await kit.end()
  })
})
