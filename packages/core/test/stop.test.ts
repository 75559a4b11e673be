// How actors and systems end: claims 28, 31, 32 and 60, drains, dispatchers.

import { createTestKit } from '@troupe/testkit'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  ActorSystem,
  type AnyRef,
  type Behavior,
  ignore,
  ManualRuntime,
  receive,
  same,
  setup,
  type SpawnOptions,
  supervise,
} from '@troupe/core'
import { scriptArguments } from './script.ts'

const never = (): Promise<void> => new Promise(() => {})

/** Notes messages and signals under a name; spawns a child for each name it is told in `{ child }`. */
function noting(log: string[], name: string, children: readonly string[] = []): Behavior<unknown> {
  return setup((ctx) => {
    for (const child of children) ctx.spawn(noting(log, child), { name: child })
    return receive(
      (_c, m) => {
        log.push(`${name}:${String(m)}`)
        return same
      },
      (_c, s) => void log.push(`${name}:${s.type}`),
    )
  })
}

describe('28. children finish before the parent’s PostStop', () => {
  test('parent, two children, and their ends in order', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(noting(log, 'p', ['a', 'b']))
    await kit.settle()
    log.length = 0
    ref.stop()
    await kit.settle()
    expect(log[0]).toBe('p:PreStop')
    expect(log.at(-1)).toBe('p:PostStop')
    expect([...log].sort()).toEqual(
      ['p:PreStop', 'a:PreStop', 'a:PostStop', 'b:PreStop', 'b:PostStop', 'p:ChildStopped', 'p:ChildStopped', 'p:PostStop'].sort(),
    )
    await kit.end()
  })

  test('a child that never settles its PostStop is cut off after its stopTimeout, alone', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const parent = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.spawn(
          receive<string>(
            () => same,
            async (_c, s) => {
              if (s.type === 'PostStop') await never()
            },
          ),
          { name: 'slow', stopTimeout: 100 },
        )
        ctx.spawn(noting(log, 'quick'), { name: 'quick' })
        return receive(
          () => same,
          (_c, s) => void log.push(`p:${s.type}`),
        )
      }),
    )
    await kit.settle()
    parent.stop()
    await kit.advance(99)
    expect(log).not.toContain('p:PostStop')
    await kit.advance(1)
    expect(log.at(-1)).toBe('p:PostStop')
    await kit.end()
  })
})

describe('28. a stop during start, restart, backoff, suspension or an async handler always ends terminated', () => {
  const boom = (): never => {
    throw new Error('boom')
  }
  const rows: [string, Behavior<string>, SpawnOptions, (system: ActorSystem, ref: AnyRef) => void, string][] = [
    ['created', ignore, {}, () => {}, 'created'],
    ['async setup', setup<string>(() => never() as never), {}, () => {}, 'starting'],
    [
      'async PreStart',
      receive<string>(
        () => same,
        (_c, s) => (s.type === 'PreStart' ? never() : undefined),
      ),
      {},
      () => {},
      'starting',
    ],
    [
      'async PostStart',
      receive<string>(
        () => same,
        (_c, s) => (s.type === 'PostStart' ? never() : undefined),
      ),
      {},
      () => {},
      'starting',
    ],
    ['async handler', receive<string>(never), {}, (_s, ref) => (ref as { tell(m: string): void }).tell('go'), 'running'],
    [
      'async PreRestart',
      receive<string>(
        () => same,
        (_c, s) => (s.type === 'PreRestart' ? never() : undefined),
      ),
      {},
      (s, ref) => s.restart(ref),
      'restarting',
    ],
    [
      'async PostStop of a restart',
      receive<string>(
        () => same,
        (_c, s) => (s.type === 'PostStop' ? never() : undefined),
      ),
      {},
      (s, ref) => s.restart(ref),
      'restarting',
    ],
    [
      'backoff',
      receive<string>(boom),
      { supervision: supervise({ backoff: { min: 500, max: 500, jitter: 0 } }) },
      (_s, ref) => (ref as { tell(m: string): void }).tell('go'),
      'restarting',
    ],
    ['suspension', ignore, {}, (s, ref) => s.suspend(ref, 'test'), 'suspended'],
    ['escalated failure', receive<string>(boom), { supervision: 'escalate' }, (_s, ref) => (ref as { tell(m: string): void }).tell('go'), 'failed'],
  ]
  for (const [name, behavior, options, before, phase] of rows)
    for (const verb of ['stop', 'kill', 'poison'] as const) {
      if (verb === 'poison' && name !== 'created') continue
      test(`${verb} during ${name}`, async () => {
        const kit = createTestKit()
        // Under a parent that keeps going, so that an escalation stays where it is.
        let ref: AnyRef | undefined
        kit.system
          .spawn(
            setup<string>((ctx) => {
              ref = ctx.spawn(behavior, { name: 'it', stopTimeout: 100, ...options })
              return receive(() => never())
            }),
            { name: 'parent', supervision: 'resume' },
          )
          .tell('hold')
        if (name !== 'created') await kit.settle()
        else kit.system.pump()
        before(kit.system, ref!)
        if (name !== 'created') {
          await kit.settle()
          if (phase !== 'failed') expect(kit.system.phaseOf(ref!)).toBe(phase)
        }
        const end = kit.system.whenTerminated(ref!)
        if (verb === 'kill') kit.system.kill(ref!)
        else ref!.stop({ after: verb === 'poison' ? 'queued' : 'current' })
        // Each of at most three waits is bounded by stopTimeout.
        await kit.advance(300)
        expect(kit.system.phaseOf(ref!)).toBe('terminated')
        expect(['normal', 'killed']).toContain((await end).reason)
        await kit.end()
      })
    }

  test('stop during backoff with children kept: they end first, and nobody is called with a dead context', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const contexts: unknown[] = []
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        if (ctx.children.length === 0) ctx.spawn(noting(log, 'child'), { name: 'child' })
        return receive<string>(
          () => {
            throw new Error('boom')
          },
          (c, s) => {
            contexts.push(c)
            log.push(`p:${s.type}`)
          },
        )
      }),
      { onRestart: { children: 'keep' }, supervision: supervise({ backoff: { min: 500, max: 500, jitter: 0 } }) },
    )
    ref.tell('go')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('restarting')
    ref.stop()
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(contexts).not.toContain(undefined)
    expect(log.filter((l) => l === 'p:PostStop')).toHaveLength(1)
    expect(log.indexOf('p:ChildStopped')).toBe(-1)
    await kit.end()
  })
})

describe('31. poison pill comes after the messages before it; kill overtakes them; what remains is drained by policy', () => {
  const ways: [string, (system: ActorSystem, ref: AnyRef) => void, string[], string][] = [
    ['poison pill', (_s, ref) => ref.stop({ after: 'queued' }), ['w:1', 'w:2', 'w:PreStop', 'w:PostStop'], 'normal'],
    ['stop', (_s, ref) => ref.stop(), ['w:PreStop', 'w:PostStop'], 'normal'],
    ['kill', (s, ref) => s.kill(ref), ['w:PostStop'], 'killed'],
  ]
  for (const [name, end, expected, reason] of ways)
    test(name, async () => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(noting(log, 'w'))
      await kit.settle()
      log.length = 0
      ref.tell(1)
      ref.tell(2)
      end(kit.system, ref)
      ref.tell(3)
      const ended = kit.system.whenTerminated(ref)
      await kit.settle()
      expect(log).toEqual(expected)
      expect((await ended).reason).toBe(reason)
      const letters = kit.system.deadLetters.list()
      expect(letters.map((l) => l.message)).toEqual(name === 'poison pill' ? [3] : [1, 2, 3])
      for (const letter of letters) expect(letter).toMatchObject({ reason: 'stopped', recipient: ref, at: 0 })
      await kit.end()
    })

  test('stop acts after the current message, kill cuts off one that is pending', async () => {
    const kit = createTestKit()
    let finish = (): void => {}
    const log: string[] = []
    const make = (): Behavior<string> =>
      receive<string>(
        async (_c, m) => {
          await new Promise<void>((resolve) => (finish = resolve))
          log.push(m)
        },
        (_c, s) => void log.push(s.type),
      )
    const a = kit.system.spawn(make())
    a.tell('current')
    a.tell('next')
    await kit.settle()
    log.length = 0
    a.stop()
    await kit.settle()
    expect(kit.system.phaseOf(a)).toBe('stopping')
    finish()
    await kit.settle()
    expect(log).toEqual(['current', 'PreStop', 'PostStop'])
    const b = kit.system.spawn(make())
    b.tell('current')
    await kit.settle()
    log.length = 0
    kit.system.kill(b)
    await kit.settle()
    expect(log).toEqual(['PostStop'])
    expect((await kit.checkLedger()).failed).toBe(1)
    finish()
    await kit.end()
  })

  test('a pill for an actor that ends or has ended is a no-op, as stop and kill are', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(ignore)
    ref.stop({ after: 'queued' })
    ref.stop({ after: 'queued' })
    await kit.settle()
    ref.stop({ after: 'queued' })
    ref.stop()
    kit.system.kill(ref)
    kit.system.suspend(ref, 'x')
    kit.system.resume(ref)
    kit.system.restart(ref)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.deadLetters.count).toBe(0)
    const ending = kit.system.shutdown()
    await kit.advance(1)
    expect((await ending).undelivered).toBe(0)
  })
})

test('a restart that clears the mailbox does not clear the pill in it', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<string>(() => {
      throw new Error('boom')
    }),
    { onRestart: { mailbox: 'clear' } },
  )
  ref.tell('boom')
  ref.tell('cleared')
  ref.stop({ after: 'queued' })
  const end = kit.system.whenTerminated(ref)
  await kit.advance(100)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect((await end).reason).toBe('normal')
  expect(await kit.checkLedger()).toMatchObject({ sent: 3, failed: 1, dropped: 1, handled: 1 })
  await kit.end()
})

describe('drains', () => {
  const stuck = (kit: ReturnType<typeof createTestKit>, drain: SpawnOptions['drain'], name?: string): ReturnType<typeof kit.probe<string>>['ref'] => {
    const ref = kit.system.spawn(
      receive<string>(() => same),
      { drain, name },
    )
    kit.system.suspend(ref, 'test')
    return ref
  }

  test('drop: counted as dropped, no dead letter', async () => {
    const kit = createTestKit()
    const ref = stuck(kit, 'drop')
    ref.tell('a')
    ref.tell('b')
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ dropped: 2, deadLettered: 0 })
    await kit.end()
  })

  test('redirect: moved in order with their senders, not resent', async () => {
    const kit = createTestKit()
    const seen: [string, string | undefined][] = []
    const target = kit.system.spawn(
      receive<string>((ctx, m) => {
        seen.push([m, ctx.sender?.path])
        return same
      }),
    )
    const sender = kit.system.spawn(ignore, { name: 's' })
    const ref = stuck(kit, { redirect: target })
    ref.tell('a', sender)
    ref.tell('b')
    await kit.settle()
    const { sent } = await kit.checkLedger()
    ref.stop()
    await kit.settle()
    expect(seen).toEqual([
      ['a', '/user/s'],
      ['b', undefined],
    ])
    expect((await kit.checkLedger()).sent).toBe(sent)
    await kit.end()
  })

  test('redirect along a chain of stopped actors reaches the first that lives', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    const c = stuck(kit, { redirect: probe.ref })
    const b = stuck(kit, { redirect: c })
    const a = stuck(kit, { redirect: b })
    a.tell('x')
    await kit.settle()
    c.stop()
    b.stop()
    await kit.settle()
    a.stop()
    await kit.settle()
    probe.expect('x')
    await kit.end()
  })

  test('redirect to a dead target, and in a circle, are dead letters with the reason', async () => {
    const kit = createTestKit()
    const dead = kit.system.spawn(ignore)
    const ref = stuck(kit, { redirect: dead })
    ref.tell('x')
    await kit.settle()
    dead.stop()
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'x', reason: 'redirect-cycle', recipient: ref }])

    const drain: { redirect: AnyRef } = { redirect: kit.system.spawn(ignore) }
    const one = stuck(kit, drain)
    const two = stuck(kit, { redirect: one })
    drain.redirect = two
    one.tell('one')
    two.tell('two')
    await kit.settle()
    two.stop()
    await kit.settle()
    // The first still lived, and got what the second left; it has nobody to give it to.
    one.stop()
    await kit.settle()
    expect(kit.system.deadLetters.list().map((l) => l.message)).toEqual(['x', 'one', 'two'])
    await kit.end()
  })
})

describe('32. shutdown during startup, during shutdown, and with a handler that never settles: resolves by the deadline with a report', () => {
  test('during startup', async () => {
    const kit = createTestKit()
    kit.system.spawn(
      setup<string>(() => never() as never),
      { stopTimeout: 50 },
    )
    kit.system.spawn(ignore)
    const ending = kit.system.shutdown({ deadline: 100 })
    await kit.advance(100)
    expect(await ending).toEqual({ stopped: 2, killed: [], undelivered: 0 })
    expect(kit.system.phase).toBe('closed')
  })

  test('during shutdown: the same promise, once', async () => {
    const kit = createTestKit()
    kit.system.spawn(ignore)
    const first = kit.system.shutdown()
    const second = kit.system.shutdown({ deadline: 1 })
    expect(second).toBe(first)
    expect(kit.system.phase).toBe('closing')
    await kit.settle()
    expect(await first).toEqual({ stopped: 1, killed: [], undelivered: 0 })
    expect(await kit.system.terminated).toBe(await first)
    expect(kit.system.shutdown()).toBe(first)
  })

  test('with a handler that never settles: killed at the deadline, and named', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(never), { name: 'stuck', stopTimeout: 10_000 })
    kit.system.spawn(
      receive<string>(never, (_c, s) => (s.type === 'PostStop' ? never() : undefined)),
      { name: 'worse', stopTimeout: 10_000 },
    )
    ref.tell('go')
    ref.tell('left')
    await kit.settle()
    const ending = kit.system.shutdown({ deadline: 100 })
    let done = false
    void ending.then(() => (done = true))
    await kit.advance(99)
    expect(done).toBe(false)
    await kit.advance(1)
    // By the system's own clock; a runtime that is pumped has the host's as a second bound.
    expect(done).toBe(true)
    expect(await ending).toEqual({ stopped: 0, killed: ['/user/stuck', '/user/worse'], undelivered: 1 })
    expect(kit.system.counts().active).toBe(0)
    await kit.checkLedger()
  })

  test('from inside a handler that awaits it', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>(async () => {
        await kit.system.shutdown()
      }),
    )
    ref.tell('end')
    await kit.advance(6000)
    expect(await kit.system.terminated).toMatchObject({ stopped: 1 })
  })

  test('on the host runtime too', async () => {
    const system = ActorSystem.create('h', { keepAlive: false })
    // It is in its handler, not just started, when the system ends.
    await new Promise<void>((entered) =>
      system
        .spawn(
          receive<string>(() => (entered(), never())),
          { name: 'stuck' },
        )
        .tell('go'),
    )
    const alive = setInterval(() => {}, 1000)
    expect(await system.shutdown({ deadline: 10 })).toEqual({ stopped: 0, killed: ['/user/stuck'], undelivered: 0 })
    clearInterval(alive)
  })

  test('deadline 0 kills at once', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(never), { name: 'stuck' })
    ref.tell('go')
    await kit.settle()
    const ending = kit.system.shutdown({ deadline: 0 })
    await kit.settle()
    expect(await ending).toMatchObject({ killed: ['/user/stuck'] })
  })

  test('the manual runtime pumps itself', async () => {
    const system = ActorSystem.create('m', { runtime: new ManualRuntime(), keepAlive: false })
    const log: string[] = []
    system.spawn(noting(log, 'x', ['y'])).tell('hello')
    expect(log).toEqual([])
    expect(await system.shutdown({ drain: true })).toEqual({ stopped: 2, killed: [], undelivered: 0 })
    expect(log).toContain('x:hello')
    expect(log.at(-1)).toBe('x:PostStop')
  })

  test('the manual runtime ends also where a handler never settles', async () => {
    const system = ActorSystem.create('m', { runtime: 'manual', keepAlive: false })
    system.spawn(receive<string>(never), { name: 'stuck' }).tell('go')
    system.pump()
    expect(await system.shutdown({ deadline: 20 })).toMatchObject({ killed: ['/user/stuck'] })
  })
})

describe('drain', () => {
  test('drain false leaves what is queued as dead letters system-closed; drain true handles it', async () => {
    for (const drain of [false, true]) {
      const kit = createTestKit({ dispatcher: { throughput: 64 } })
      const seen: number[] = []
      const ref = kit.system.spawn(
        receive<number>((_ctx, n) => {
          seen.push(n)
          return same
        }),
      )
      for (let i = 0; i < 200; i++) ref.tell(i)
      const ending = kit.system.shutdown({ drain })
      await kit.settle()
      const report = await ending
      // Without a drain the actor has the turn it waits for, and no other.
      expect(seen).toHaveLength(drain ? 200 : 64)
      expect(report.undelivered).toBe(drain ? 0 : 136)
      if (!drain) expect(new Set(kit.system.deadLetters.list().map((l) => l.reason))).toEqual(new Set(['system-closed']))
      ref.tell(7)
      expect((await kit.checkLedger()).deadLettered).toBe(drain ? 1 : 137)
    }
  })

  test('drain waits for pending handlers, backoffs and what actors tell each other, within the deadline', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const sink = kit.system.spawn(
      receive<string>((_ctx, m) => {
        seen.push(m)
        return same
      }),
    )
    let finish = (): void => {}
    let failed = false
    const worker = kit.system.spawn(
      receive<string>(async (_ctx, m) => {
        if (!failed) {
          failed = true
          throw new Error('once')
        }
        await new Promise<void>((resolve) => (finish = resolve))
        sink.tell(m)
      }),
    )
    worker.tell('fails')
    worker.tell('works')
    const ending = kit.system.shutdown({ drain: true })
    await kit.advance(100)
    finish()
    await kit.settle()
    expect(seen).toEqual(['works'])
    expect(await ending).toMatchObject({ undelivered: 0, killed: [] })
  })

  test('a drain does not wait for calls of a reentrant actor that were cut off', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(never), { reentrant: true })
    ref.tell('a')
    ref.tell('b')
    await kit.settle()
    expect(kit.system.pump()).toBe('awaiting')
    kit.system.kill(ref)
    await kit.settle()
    expect(kit.system.pump()).toBe('idle')
    const ending = kit.system.shutdown({ drain: true })
    let done = false
    void ending.then(() => (done = true))
    await kit.settle()
    expect(done).toBe(true)
  })
})

test('60. `await using` drains the last tells before it stops', async () => {
  const seen: number[] = []
  {
    await using system = ActorSystem.create('scope', { keepAlive: false })
    const ref = system.spawn(
      receive<number>(async (_ctx, n) => {
        await Promise.resolve()
        seen.push(n)
      }),
    )
    for (let i = 0; i < 100; i++) ref.tell(i)
  }
  expect(seen).toHaveLength(100)
})

test('a system that is not open refuses spawn and subscribe with SystemClosed, and tell is a dead letter system-closed', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(ignore)
  let inside: unknown
  kit.system.spawn(
    receive<string>(
      () => same,
      (ctx: ActorContext<string>, s) => {
        if (s.type !== 'PreStop') return
        try {
          ctx.spawn(ignore)
        } catch (error) {
          inside = error
        }
      },
    ),
  )
  await kit.settle()
  const ending = kit.system.shutdown()
  const closed = expect.objectContaining({ code: 'system-closed', message: expect.stringContaining('test') })
  expect(() => kit.system.spawn(ignore)).toThrow(closed)
  expect(() => kit.system.events.subscribe(ref, 'x')).toThrow(closed)
  expect(() => kit.system.events.listen(() => {})).toThrow(closed)
  await kit.settle()
  await ending
  expect(inside).toEqual(closed)
  ref.tell('late')
  expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'late', reason: 'system-closed' }])
  await expect((ref as { ask(q: object): Promise<unknown> }).ask({})).rejects.toMatchObject({ code: 'ask-target-stopped' })
  await kit.checkLedger()
})

const dist = new URL('../dist/index.js', import.meta.url).href

describe('60. a system that is idle keeps the process alive until it ends, one with keepAlive false does not', () => {
  const run = (options: string, alive: number): { status: number | null; stdout: string; signal: string | null } => {
    const script = `
      import { ActorSystem, ignore } from ${JSON.stringify(dist)}
      const system = ActorSystem.create('t', ${options})
      await system.started(system.spawn(ignore))
      process.on('exit', () => process.stdout.write('exit'))
      setTimeout(() => { process.stdout.write('alive '); void system.shutdown() }, ${alive}).unref()
    `
    return spawnSync(process.execPath, scriptArguments(script), { timeout: 150_000, encoding: 'utf8' })
  }
  test('keepAlive left out: it stays, and ends with its shutdown', () => {
    expect(run('{}', 200)).toMatchObject({ status: 0, stdout: 'alive exit' })
  })
  test('keepAlive false: it exits', () => {
    expect(run('{ keepAlive: false }', 60_000)).toMatchObject({ status: 0, stdout: 'exit' })
  })
})

test('dispatchers.close drains: refuses new actors, stops with the last, and its name can be used again', async () => {
  const kit = createTestKit({ dispatchers: { side: { throughput: 2 } } })
  const { dispatchers } = kit.system
  expect(dispatchers.names).toEqual(['concurrent', 'side'])
  const seen: number[] = []
  const ref = kit.system.spawn(
    receive<number>((_ctx, n) => {
      seen.push(n)
      return same
    }),
    { dispatcher: 'side' },
  )
  expect(dispatchers.stateOf('side')).toBe('running')
  dispatchers.close('side')
  expect(dispatchers.stateOf('side')).toBe('draining')
  expect(() => kit.system.spawn(ignore, { dispatcher: 'side' })).toThrow(
    expect.objectContaining({ code: 'unknown-dispatcher', message: expect.stringContaining('draining') }),
  )
  for (const n of [1, 2, 3]) ref.tell(n)
  await kit.settle()
  expect(seen).toEqual([1, 2, 3])
  ref.stop()
  await kit.settle()
  expect(dispatchers.stateOf('side')).toBe('stopped')
  expect(() => kit.system.spawn(ignore, { dispatcher: 'side' })).toThrow(expect.objectContaining({ code: 'unknown-dispatcher' }))
  dispatchers.add('side')
  kit.system.spawn(ignore, { dispatcher: 'side' })
  expect(() => dispatchers.add('side')).toThrow(expect.objectContaining({ code: 'unknown-dispatcher' }))
  expect(() => dispatchers.close('concurrent')).toThrow(expect.objectContaining({ code: 'unknown-dispatcher' }))
  dispatchers.add('idle')
  dispatchers.close('idle')
  expect(dispatchers.stateOf('idle')).toBe('stopped')
  await kit.end()
})
