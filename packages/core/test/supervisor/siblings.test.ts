// Children that hold refs of their siblings: `refOf`, evaluated at every start.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  Actor,
  type ActorRef,
  type AnyRef,
  type Behavior,
  behaviorOfClass,
  child,
  type ChildSpec,
  ignore,
  type RestartType,
  receive,
  same,
  setup,
  type Siblings,
  stopped,
  supervisor,
  supervisorClient,
  type SupervisorClient,
  type SupervisorOptions,
} from '@troupe/core'

type Db = { type: 'get'; replyTo: ActorRef<string> } | { type: 'crash' } | { type: 'end' }
type Api = { type: 'ask'; replyTo: ActorRef<string> } | { type: 'crash' }

let lives = 0
const store = (): Behavior<Db> =>
  setup<Db>(() => {
    const life = ++lives
    return receive((_ctx, m) => {
      if (m.type === 'crash') throw new Error('connection lost')
      if (m.type === 'end') return stopped
      m.replyTo.tell(`life ${life}`)
      return same
    })
  })

/** An actor that asks the db it was given, and nobody else. */
const api = (db: ActorRef<Db>): Behavior<Api> =>
  receive(async (ctx, m) => {
    if (m.type === 'crash') throw new Error('bad request')
    m.replyTo.tell(await ctx.ask(db, { type: 'get' }, { timeout: 100 }).catch((cause: Error) => cause.name))
    return same
  })

interface Stage {
  readonly kit: TestKit
  readonly client: SupervisorClient
  readonly db: ChildSpec<Db>
  readonly api: ChildSpec<Api>
  readonly made: AnyRef[]
  /** What the api answers now. */
  readonly answer: () => Promise<string>
  /** Runs a request to its end. */
  readonly done: <T>(request: Promise<T>) => Promise<T>
}

async function stage(options: Omit<SupervisorOptions, 'children'> & { restart?: RestartType } = {}): Promise<Stage> {
  lives = 0
  const { restart, ...rest } = options
  const kit = createTestKit()
  const made: AnyRef[] = []
  const db = child('db', store(), { restart })
  const front = child(
    'api',
    ({ refOf }) => {
      const ref = refOf(db)
      made.push(ref)
      return api(ref)
    },
    { needs: [db] },
  )
  const ref = kit.system.spawn(supervisor({ strategy: 'dependents', intensity: 100, ...rest, children: [front, db] } as SupervisorOptions), {
    name: 'sup',
  })
  const client = supervisorClient(ref)
  const done = async <T>(request: Promise<T>): Promise<T> => {
    request.catch(() => {})
    await kit.settle()
    return request
  }
  const answer = async (): Promise<string> => {
    const asked = (await done(client.refOf(front))).ask({ type: 'ask' })
    await kit.settle()
    return asked
  }
  await kit.settle()
  return { kit, client, db, api: front, made, answer, done }
}

describe('a child that is given a function', () => {
  test('starts after the siblings it needs, and gets their refs, typed by their specs', async () => {
    const { kit, answer, made, client, db, done } = await stage()
    expect(await answer()).toBe('life 1')
    expect(made).toEqual([await done(client.refOf(db))])
    await kit.end()
  })

  test.each(['dependents', 'rest-for-one', 'all-for-one'] as const)(
    'is made anew with the new ref when a sibling comes back as another actor: %s',
    async (strategy) => {
      const { kit, client, db, answer, made, done } = await stage({ strategy })
      const before = await done(client.refOf(db))
      before.tell({ type: 'end' })
      await kit.settle()
      expect((await done(client.refOf(db))).uid).not.toBe(before.uid)
      expect(made.length).toBe(2)
      expect(await answer()).toBe('life 2')
      await kit.end()
    },
  )

  test('is made anew at each of its own restarts, whoever asks for it, and keeps its ref', async () => {
    const { kit, client, api: front, made, answer, done } = await stage()
    const ref = await done(client.refOf(front))
    ref.tell({ type: 'crash' })
    await kit.settle()
    expect(made.length).toBe(2)
    kit.system.restart(ref)
    await kit.settle()
    expect(made.length).toBe(3)
    expect(await done(client.refOf(front))).toBe(ref)
    expect(await answer()).toBe('life 1')
    await kit.end()
  })

  test.each(['dependents', 'rest-for-one', 'all-for-one'] as const)(
    'is restarted when a sibling whose ref it has was stopped and started by hand: %s',
    async (strategy) => {
      const { kit, client, api: front, answer, done } = await stage({ strategy })
      const ref = await done(client.refOf(front))
      await done(client.stopChild('db'))
      expect(await answer()).toBe('AskTargetStopped')
      await done(client.restartChild('db'))
      expect(await done(client.refOf(front))).toBe(ref)
      expect(await answer()).toBe('life 2')
      // By request: no restart that counts.
      expect((await done(client.children())).map((c) => [c.name, c.restarts])).toEqual([
        ['db', 0],
        ['api', 1],
      ])
      await kit.end()
    },
  )

  test('is left alone when its sibling is restarted in place by hand: the ref is good', async () => {
    const { kit, client, db, made, answer, done } = await stage()
    kit.system.restart(await done(client.refOf(db)))
    await kit.settle()
    expect(made.length).toBe(1)
    expect(await answer()).toBe('life 2')
    await kit.end()
  })

  test('that was started at run time gets refs too', async () => {
    const { kit, client, db, done } = await stage()
    const late = child('late', ({ refOf }) => api(refOf(db)), { needs: [db] })
    const ref = await done(client.startChild(late))
    const asked = ref.ask({ type: 'ask' })
    await kit.settle()
    expect(await asked).toBe('life 1')
    await kit.end()
  })

  test('may be a supervisor, which then has all the time it needs, and is listed as one', async () => {
    const { kit, client, db, done } = await stage()
    const inner = child('inner', ({ refOf }) => supervisor({ children: [child('worker', api(refOf(db)))] }), { needs: [db] })
    await done(client.startChild(inner))
    expect((await done(client.children())).map((c) => `${c.name} ${c.supervisor}`)).toEqual(['db false', 'api false', 'inner true'])
    expect(await done(client.count())).toMatchObject({ supervisors: 1, workers: 2 })
    await kit.end()
  })

  test('may bring options of its own', async () => {
    const kit = createTestKit()
    const { bounded, withOptions } = await import('@troupe/core')
    const spec = child('x', () => withOptions(ignore, { mailbox: bounded(1, 'drop-newest') }))
    const client = supervisorClient(kit.system.spawn(supervisor({ children: [spec] })))
    const found = client.refOf(spec)
    await kit.settle()
    const ref = await found
    kit.system.suspend(ref, 'to fill up')
    await kit.settle()
    for (let i = 0; i < 3; i++) ref.tell(i)
    expect((await kit.system.ledger()).queued).toBe(1)
    kit.system.resume(ref)
    await kit.end()
  })

  test('that throws fails the start, with what it threw as the cause', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      supervisor({
        children: [
          child('x', () => {
            throw new Error('no plan')
          }),
        ],
      }),
    )
    const started = kit.system.started(ref).catch((e: unknown) => e)
    await kit.settle()
    expect(String((await started) as Error)).toContain('no plan')
    await kit.end()
  })
})

describe('a class as a child', () => {
  class Front extends Actor {
    readonly db: ActorRef<Db>
    constructor(db: ActorRef<Db>) {
      super()
      this.db = db
    }
    look(): Promise<string> {
      return this.ctx.ask(this.db, { type: 'get' })
    }
  }
  class Shelf extends Actor {
    name(): string {
      return 'shelf'
    }
  }

  test('takes its arguments from a function of its siblings, at every start', async () => {
    const { kit, client, db, done } = await stage()
    const front = child('front', Front, { args: ({ refOf }) => [refOf(db)], needs: [db] })
    const handle = await done(client.startChild(front))
    expect(await done(handle.ask.look())).toBe('life 1')
    ;(await done(client.refOf(db))).tell({ type: 'end' })
    await kit.settle()
    expect(await done(handle.ask.look())).toBe('life 2')
    await kit.end()
  })

  test('is a handle for its siblings', async () => {
    const kit = createTestKit()
    const shelf = child('shelf', Shelf)
    const seen: string[] = []
    const reader = child(
      'reader',
      ({ refOf }) => {
        const handle = refOf(shelf)
        return setup<never>(async () => {
          seen.push(await handle.ask.name())
          return ignore
        })
      },
      { needs: [shelf] },
    )
    kit.system.spawn(supervisor({ strategy: 'rest-for-one', children: [shelf, reader] }))
    await kit.settle()
    expect(seen).toEqual(['shelf'])
    await kit.end()
  })

  test('may be what the function makes', async () => {
    const { kit, client, db, done } = await stage()
    const front = child('front', ({ refOf }) => behaviorOfClass(Front, refOf(db)), { needs: [db] })
    const ref = await done(client.startChild(front))
    const asked = ref.ask({ type: 'look', args: [] })
    await kit.settle()
    expect(await asked).toBe('life 1')
    await kit.end()
  })
})

describe('refused', () => {
  const db = child('db', store())
  const startOf = async (make: (siblings: Siblings) => Behavior<never>, needs: readonly (ChildSpec<never, unknown> | string)[]): Promise<unknown> => {
    const kit = createTestKit()
    const ref = kit.system.spawn(supervisor({ strategy: 'rest-for-one', children: [db, child('api', make, { needs })] }), { name: 'sup' })
    const failed = kit.system.started(ref).then(
      () => undefined,
      (error: Error) => (error.cause as Error).cause ?? error.cause,
    )
    await kit.settle()
    await kit.end()
    return failed
  }
  const messageOf = async (failed: Promise<unknown>): Promise<string> => ((await failed) as Error).message

  test('is the ref of a spec that is not among the needs', async () => {
    const said = await messageOf(startOf(({ refOf }) => (refOf(db), ignore), []))
    expect(said).toContain('"api" asks for the ref of "db", which is not among its needs')
  })
  test('also where the needs have it by name only: a name says nothing about the protocol', async () => {
    const said = await messageOf(startOf(({ refOf }) => (refOf(db), ignore), ['db']))
    expect(said).toContain('not among its needs')
  })
  test('is what is no spec at all', async () => {
    expect(await messageOf(startOf(({ refOf }) => (refOf('db' as never), ignore), [db]))).toContain('not among its needs')
    expect(() => child('x', ignore, { needs: [5 as never] })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(() => child('x', ignore, { needs: [{ name: 'x' } as never] })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })
  test('is a supervisor whose child of that name is another one', () => {
    const children = [child('db', ignore), child('api', ({ refOf }) => api(refOf(db)), { needs: [db] })]
    expect(() => supervisor({ strategy: 'dependents', children })).toThrow(expect.objectContaining({ code: 'invalid-children' }))
  })
  test('is the strategy one-for-one, where the ref would go stale, at declaration and at run time', async () => {
    const front = child('api', ({ refOf }) => api(refOf(db)), { needs: [db] })
    for (const strategy of [undefined, 'one-for-one'] as const)
      expect(() => supervisor({ strategy, children: [db, front] })).toThrow(/"api" holds refs of its siblings.*'dependents'/)
    const kit = createTestKit()
    const client = supervisorClient(kit.system.spawn(supervisor({ children: [db] })))
    const started = client.startChild(front).catch((e: unknown) => e)
    await kit.settle()
    expect(await started).toMatchObject({ code: 'child-refused', reason: 'invalid' })
    await kit.end()
  })
  test('is a temporary sibling, which nobody brings back', () => {
    const gone = child('gone', ignore, { restart: 'temporary' })
    expect(() => child('x', ({ refOf }) => (refOf(gone), ignore), { needs: [gone] })).toThrow(/"gone" is temporary/)
    // Needed without holding its ref, it may be.
    expect(() => child('x', ignore, { needs: [gone] })).not.toThrow()
  })
  test('is the start of a child whose sibling was stopped; it comes up once that is back', async () => {
    const { kit, client, done, answer } = await stage()
    await done(client.stopChild('api'))
    await done(client.stopChild('db'))
    await expect(done(client.restartChild('api'))).rejects.toMatchObject({
      reason: 'start-failed',
      message: expect.stringContaining('"db" is not running'),
    })
    await done(client.restartChild('db'))
    await done(client.restartChild('api'))
    expect(await answer()).toBe('life 2')
    await kit.end()
  })
})

test('names and specs mix in needs, and both order the start', async () => {
  const kit = createTestKit()
  const order: string[] = []
  const noted = (name: string): Behavior<never> =>
    setup<never>(() => {
      order.push(name)
      return ignore
    })
  const a = child('a', noted('a'))
  kit.system.spawn(supervisor({ children: [child('c', noted('c'), { needs: ['b', a] }), child('b', noted('b'), { needs: [a] }), a] }))
  await kit.settle()
  expect(order).toEqual(['a', 'b', 'c'])
  await kit.end()
})
