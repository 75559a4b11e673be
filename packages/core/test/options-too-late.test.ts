// Options take effect at spawn. A behavior that brings some, returned by an actor that was spawned already, is refused
// wherever it turns up: dropped silently, a bound or a limit that somebody relies on would just not be there.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type AnyRef,
  type Behavior,
  bounded,
  entities,
  passivate,
  processor,
  receive,
  same,
  setup,
  supervisor,
  type TroupeError,
  withOptions,
} from '@troupe/core'

const plain = (): Behavior<string> => receive<string>(() => same)
const late = (): Behavior<string> => withOptions(plain(), { mailbox: bounded(1, 'reject'), stopTimeout: 10 })

/** Where user code returns the next behavior; each gets there by the message `go`, or by starting. */
const places: Readonly<Record<string, (next: () => Behavior<string>) => Behavior<string>>> = {
  setup: (next) => setup(() => next()),
  'an async setup': (next) => setup(async () => next()),
  'a setup inside a setup': (next) => setup(() => setup(() => next())),
  'a setup that a handler returned': (next) => receive(() => setup(() => next())),
  'a handler': (next) => receive(() => next()),
  'an async handler': (next) => receive(async () => next()),
  PreStart: (next) =>
    receive<string>(
      () => same,
      (_ctx, s) => (s.type === 'PreStart' ? next() : same),
    ),
  'an async PostStart': (next) =>
    receive<string>(
      () => same,
      async (_ctx, s) => (s.type === 'PostStart' ? next() : same),
    ),
  'a setup that PreStart returned': (next) =>
    receive<string>(
      () => same,
      (_ctx, s) => (s.type === 'PreStart' ? setup<string>(() => next()) : same),
    ),
  'a signal handler': (next) =>
    receive<string>(
      (ctx) => ctx.spawn(plain()).stop(),
      (_ctx, s) => (s.type === 'ChildStopped' ? next() : same),
    ),
  'an async signal handler': (next) =>
    receive<string>(
      (ctx) => ctx.spawn(plain()).stop(),
      async (_ctx, s) => (s.type === 'ChildStopped' ? next() : same),
    ),
  'a reentrant handler': (next) =>
    withOptions(
      receive<string>(() => next()),
      { reentrant: true },
    ),
  'an async reentrant handler': (next) =>
    withOptions(
      receive<string>(async () => next()),
      { reentrant: true },
    ),
  'a passivated setup': (next) =>
    passivate(
      setup<string>(() => next()),
      { after: 60_000 },
    ),
  'a passivated handler': (next) =>
    passivate(
      receive<string>(() => next()),
      { after: 60_000 },
    ),
}

/** Lets an actor run, and returns how it ended; undefined if it has not. */
async function endOf(kit: TestKit, ref: AnyRef): Promise<{ readonly reason: string; readonly cause: unknown } | undefined> {
  let end: { readonly reason: string; readonly cause: unknown } | undefined
  void kit.system.whenTerminated(ref).then((e) => (end = e))
  await kit.advance(1000)
  return end
}

/** What a failing actor failed with, under the error that wraps the failure of a start. */
function codesOf(cause: unknown): readonly string[] {
  const codes: string[] = []
  for (let at = cause as TroupeError | undefined; at !== undefined; at = at.cause as TroupeError | undefined) codes.push(at.code)
  return codes
}

describe('a behavior with options fails the actor when it is returned by', () => {
  for (const [name, place] of Object.entries(places))
    test(name, async () => {
      const kit = createTestKit()
      const ref = kit.system.spawn(place(late), { name: 'it', supervision: 'stop' })
      ref.tell('go')
      const end = await endOf(kit, ref)
      expect(end?.reason).toBe('failure')
      const cause = end?.cause
      expect(codesOf(cause)).toContain('options-too-late')
      const said = (cause as Error).message
      for (const part of ['/user/it', 'mailbox, stopTimeout', 'withOptions(setup(…), options)', 'spawn']) expect(said).toContain(part)
      await kit.end()
    })
})

describe('one rule, whatever the options are', () => {
  const makers: Readonly<Record<string, () => Behavior<string>>> = {
    'none at all': () => withOptions(plain(), {}),
    'those of processor': () => processor<string>(() => {}),
    'those of entities': () => entities<string>({ keyOf: (m) => m, create: plain, idle: 10 }),
    'those of supervisor': () => supervisor({ children: [] }) as Behavior<never> as Behavior<string>,
    'on same': () => withOptions(same, { stopTimeout: 10 }),
    'several layers of them': () => withOptions(withOptions(plain(), { stopTimeout: 10 }), { startTimeout: 10 }),
    'unreadable ones': () =>
      withOptions(
        plain(),
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('bang')
            },
          },
        ),
      ),
  }
  for (const [name, make] of Object.entries(makers))
    test(name, async () => {
      const kit = createTestKit()
      const ref = kit.system.spawn(
        setup(() => make()),
        { supervision: 'stop' },
      )
      expect(codesOf((await endOf(kit, ref))?.cause)).toContain('options-too-late')
      await kit.end()
    })

  test('layers are named with all that they hold', async () => {
    const kit = createTestKit()
    const made = withOptions(withOptions(plain(), { stopTimeout: 10 }), { startTimeout: 10 })
    const ref = kit.system.spawn(
      setup(() => made),
      { supervision: 'stop' },
    )
    expect(((await endOf(kit, ref)) as { cause: Error }).cause.message).toContain('startTimeout, stopTimeout')
    await kit.end()
  })
})

test('given to spawn, layers of options are merged, the outermost first', async () => {
  const kit = createTestKit()
  const inner = withOptions(
    setup(() => plain()),
    { mailbox: bounded(3, 'reject'), name: 'inner' },
  )
  const ref = kit.system.spawn(withOptions(inner, { name: 'outer' }))
  await kit.settle()
  expect(await kit.system.inspect(ref)).toMatchObject({ name: 'outer', mailbox: { kind: 'bounded', capacity: 3 } })
  await kit.end()
})
