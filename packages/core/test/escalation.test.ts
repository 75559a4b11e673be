// Failures that climb: BEHAVIOURS 64.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type AnyRef, Escalated, receive, same, setup, supervise } from '@troupe/core'
import { boom, keeper, type Msg, quick, say } from './keeper.ts'
import { group, scoped } from './siblings.ts'

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

  /** A parent that keeps its child, which fails up to it at each start but the first and those after `wellAfter`. */
  const fragile = (
    kit: TestKit,
    parent: Parameters<typeof supervise>[0],
    wellAfter: number,
  ): { starts: number[]; child(): AnyRef; parent: ActorRef<Msg> } => {
    const starts: number[] = []
    let child: AnyRef | undefined
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        child ??= ctx.spawn(
          setup<Msg>(() => {
            starts.push(kit.clock.now)
            if (starts.length > 1 && starts.length <= wellAfter) throw new Error('bad start')
            return keeper()
          }),
          { name: 'child', supervision: 'escalate' },
        )
        return receive<Msg>(() => same)
      }),
      { name: 'parent', supervision: supervise(parent), onRestart: { children: 'keep' } },
    )
    return { starts, child: () => child!, parent: ref }
  }

  test('a kept child that fails up to a parent in its backoff begins anew with it, not before and not again and again', async () => {
    const kit = createTestKit()
    const f = fragile(kit, { limit: { restarts: 3, within: 10_000 }, backoff: { min: 100, max: 100, jitter: 0 } }, 100)
    await kit.settle()
    kit.system.restart(f.child())
    await kit.settle()
    expect([kit.system.phaseOf(f.parent), kit.system.phaseOf(f.child())]).toEqual(['restarting', 'failed'])
    await kit.advance(99)
    expect(f.starts).toEqual([0, 0])
    await kit.advance(1000)
    // The parent's policy bounds it: each failure of the child is one of the parent.
    expect(f.starts).toEqual([0, 0, 100, 200, 300])
    expect(kit.system.phaseOf(f.parent)).toBe('terminated')
    await kit.end()
  })

  test('a kept child that failed up comes back with its parent, which is not failed for it a second time', async () => {
    const kit = createTestKit()
    const f = fragile(kit, { backoff: { min: 100, max: 100, jitter: 0 } }, 2)
    await kit.settle()
    kit.system.restart(f.parent)
    kit.system.restart(f.child())
    await kit.settle()
    await kit.advance(1000)
    expect([kit.system.phaseOf(f.parent), kit.system.phaseOf(f.child())]).toEqual(['running', 'running'])
    expect(f.starts.length).toBe(3)
    expect((await kit.system.inspect(f.parent)).incarnation).toBeLessThanOrEqual(2)
    await kit.end()
  })

  test('a child whose start keeps failing where its parent resumes is not tried without a pause', async () => {
    const kit = createTestKit()
    const f = fragile(kit, { decide: () => 'resume' }, 1000)
    await kit.settle()
    kit.system.restart(f.child())
    await kit.settle()
    expect(f.starts.length).toBeLessThanOrEqual(3)
    await kit.advance(10_000)
    // Within each window of its policy the pauses grow: 0, 10, 20, 40… ms.
    expect(f.starts.length).toBeGreaterThan(20)
    expect(f.starts.length).toBeLessThan(100)
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
