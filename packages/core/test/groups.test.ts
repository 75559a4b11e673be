// Group scopes by the parent's childSupervision, whose policy holds for whom, and escalation (BEHAVIOURS 64).

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, Escalated, receive, same, setup, type Signal, type SpawnOptions, supervise, type Supervision } from 'troupe'
import { boom, gate, keeper, type Msg, quick, say } from './keeper.ts'

interface Group {
  readonly parent: ActorRef<Msg>
  readonly children: ActorRef<Msg>[]
  readonly logs: Readonly<Record<string, string[]>>
  readonly heard: Signal[]
  /** Phase and incarnation of each child. */
  states(): Promise<string[]>
}

/** A parent with children a, b, c; fails itself when told to. */
async function group(
  kit: TestKit,
  childSupervision: Supervision | undefined,
  own: Readonly<Record<string, Supervision>> = {},
  options: SpawnOptions = {},
  until: Promise<void> = Promise.resolve(),
): Promise<Group> {
  const names = ['a', 'b', 'c']
  const logs = Object.fromEntries(names.map((n) => [n, [] as string[]]))
  const children: ActorRef<Msg>[] = []
  const heard: Signal[] = []
  const parent = kit.system.spawn(
    setup<Msg>((ctx) => {
      children.length = 0
      if (ctx.children.length > 0) children.push(...(ctx.children as readonly ActorRef<Msg>[]))
      else for (const name of names) children.push(ctx.spawn(keeper(logs[name], until), { name, supervision: own[name] }))
      return receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (_c, s) => {
          heard.push(s)
          return same
        },
      )
    }),
    { name: 'parent', childSupervision, ...options },
  )
  await kit.settle()
  const states = async (): Promise<string[]> =>
    Promise.all(
      children.map(async (c) => (kit.system.phaseOf(c) === 'terminated' ? 'terminated' : `running ${(await kit.system.inspect(c)).incarnation}`)),
    )
  return { parent, children, logs, heard, states }
}

const scoped = (scope: 'one-for-one' | 'all-for-one' | 'rest-for-one', more: object = {}): Supervision =>
  supervise({ scope, backoff: quick, ...more })

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

describe('64. escalation', () => {
  test('the child stays failed, the parent fails with Escalated and is treated by its own policy', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const supervision = supervise({
      backoff: { min: 100, max: 100, jitter: 0 },
      decide: (cause) => {
        seen.push(cause)
        return 'restart'
      },
    })
    const g = await group(kit, 'escalate', {}, { supervision, onRestart: { children: 'keep' } })
    const cause = new Error('boom')
    const message = boom(cause)
    const failing = g.children[1]!
    let phase: string | undefined
    kit.system.events.listen((event) => {
      const o = event as { type: string; ref: unknown }
      if (o.type === 'actor.failed' && o.ref === g.parent) phase = kit.system.phaseOf(failing)
    })
    failing.tell(message)
    await kit.settle()
    expect(phase).toBe('failed')
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBeInstanceOf(Escalated)
    expect(seen[0]).toMatchObject({ code: 'escalated', child: '/user/parent/b', cause })
    await kit.end()
  })

  test('a parent that restarts stops its children, the failed one too', async () => {
    const kit = createTestKit()
    const g = await group(kit, 'escalate', {}, { supervision: supervise({ backoff: quick }) })
    const before = [...g.children]
    before[1]!.tell(boom())
    await kit.settle()
    expect(before.map((c) => kit.system.phaseOf(c))).toEqual(['terminated', 'terminated', 'terminated'])
    expect(await g.states()).toEqual(['running 0', 'running 0', 'running 0'])
    await kit.end()
  })

  test('a parent that restarts and keeps its children restarts the one that failed up to it', async () => {
    const kit = createTestKit()
    const g = await group(kit, 'escalate', {}, { supervision: supervise({ backoff: quick }), onRestart: { children: 'keep' } })
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(g.parent)).toBe('running')
    expect(g.children.map((c) => kit.system.phaseOf(c))).toEqual(['running', 'running', 'running'])
    expect(await g.states()).toEqual(['running 0', 'running 1', 'running 0'])
    await kit.end()
  })

  test('a parent that resumes takes the child along', async () => {
    const kit = createTestKit()
    const g = await group(kit, 'escalate', {}, { supervision: 'resume' })
    g.children[1]!.tell(boom())
    g.children[1]!.tell(say('after'))
    await kit.settle()
    expect(g.children.map((c) => kit.system.phaseOf(c))).toEqual(['running', 'running', 'running'])
    expect(await g.states()).toEqual(['running 0', 'running 0', 'running 0'])
    expect(g.logs['b']!.at(-1)).toBe('after')
    await kit.end()
  })

  test('a child whose start failed is started anew where its parent resumes', async () => {
    const kit = createTestKit()
    let failing = false
    let child!: ActorRef<Msg>
    const log: string[] = []
    kit.system.spawn(
      setup<Msg>((ctx) => {
        child = ctx.spawn(
          setup<Msg>(() => {
            if (failing) {
              failing = false
              throw new Error('bad start')
            }
            return keeper(log)
          }),
          { supervision: 'escalate' },
        )
        return receive<Msg>(() => same)
      }),
      { supervision: 'resume' },
    )
    await kit.settle()
    failing = true
    kit.system.restart(child)
    await kit.settle()
    child.tell(say('back'))
    await kit.settle()
    expect(kit.system.phaseOf(child)).toBe('running')
    expect(log.at(-1)).toBe('back')
    await kit.end()
  })

  test('two children that escalate at once fail their parent once', async () => {
    const kit = createTestKit()
    const g = await group(kit, 'escalate', {}, { supervision: supervise({ backoff: quick }) })
    const { children } = g
    const [a, b] = [children[0]!, children[1]!]
    a.tell(boom())
    b.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(g.parent)).toBe('running')
    expect((await kit.system.inspect(g.parent)).incarnation).toBe(1)
    expect(kit.system.counts().supervision.restarts).toBe(1)
    expect(g.heard.filter((s) => s.type === 'PreRestart')).toHaveLength(1)
    await kit.end()
  })

  test('onLimit escalate climbs when the limit is hit', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('one-for-one', { limit: { restarts: 1, within: 1000 }, onLimit: 'escalate' }), {}, { supervision: 'stop' })
    const end = kit.system.whenTerminated(g.parent)
    g.children[1]!.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(g.parent)).toBe('running')
    g.children[1]!.tell(boom())
    await kit.settle()
    expect((await end).cause).toBeInstanceOf(Escalated)
    await kit.end()
  })

  /** Three generations that all escalate; the youngest fails with `cause` when told. */
  const dynasty = (kit: TestKit, found: (youngest: ActorRef<Msg>) => void): ActorRef<Msg> =>
    kit.system.spawn(
      setup<Msg>((top) => {
        top.spawn(
          setup<Msg>((middle) => {
            found(middle.spawn(keeper(), { name: 'youngest', supervision: 'escalate' }))
            return receive<Msg>(() => same)
          }),
          { name: 'middle', supervision: 'escalate' },
        )
        return receive<Msg>(() => same)
      }),
      { name: 'top', supervision: 'escalate' },
    )

  test('at the top the system ends with the chain of causes', async () => {
    const kit = createTestKit()
    let youngest!: ActorRef<Msg>
    dynasty(kit, (ref) => (youngest = ref))
    const other = kit.system.spawn(keeper())
    await kit.settle()
    const cause = new Error('boom')
    youngest.tell(boom(cause))
    await kit.settle()
    const report = await kit.system.terminated
    expect(kit.system.phase).toBe('closed')
    expect(kit.system.phaseOf(other)).toBe('terminated')
    expect(report.cause).toMatchObject({
      code: 'escalated',
      child: '/user/top/middle',
      cause: { code: 'escalated', child: '/user/top/middle/youngest', cause },
    })
    expect(kit.logs.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('/user/top escalated past the top') as string })
    await kit.end()
  })

  test("with onEscalation 'stop' only the top-level actor ends, with the chain of causes", async () => {
    const kit = createTestKit({ onEscalation: 'stop' })
    let youngest!: ActorRef<Msg>
    const top = dynasty(kit, (ref) => (youngest = ref))
    const other = kit.system.spawn(keeper())
    await kit.settle()
    const cause = new Error('boom')
    youngest.tell(boom(cause))
    await kit.settle()
    expect(kit.system.phase).toBe('open')
    expect(kit.system.phaseOf(other)).toBe('running')
    expect([top, youngest].map((r) => kit.system.phaseOf(r))).toEqual(['terminated', 'terminated'])
    const end = await kit.system.whenTerminated(top)
    expect(end.reason).toBe('failure')
    expect(end.cause).toMatchObject({ code: 'escalated', cause: { code: 'escalated', cause } })
    await kit.end()
  })

  test('the parent hears ChildFailed with the directive escalate when it goes on', async () => {
    const kit = createTestKit()
    const g = await group(kit, 'escalate', {}, { supervision: 'resume' })
    const cause = new Error('boom')
    const message = boom(cause)
    g.children[0]!.tell(message)
    await kit.settle()
    expect(g.heard.slice(2)).toEqual([{ type: 'ChildFailed', child: g.children[0], cause, message, directive: 'escalate' }])
    await kit.end()
  })
})
