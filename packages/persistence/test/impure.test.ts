// Event handlers that do more than make a state, and names that a journal could take for others: refused before anything is stored.

import { type ActorRef, receive, same } from '@troupe/core'
import { type CommandContext, durableState, EventSourced, eventSourced, type KeepOptions, type Kind, memory } from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Ctx = CommandContext<number, { type: 'added' }, Add>
type Add = { type: 'add'; replyTo: ActorRef<number> }

/** One whose event handler does this, too; `ctx` is of the command that runs. */
function adder(within: (ctx: Ctx, replyTo: ActorRef<number>) => unknown, keep: Partial<KeepOptions<never>> = {}): Kind<Add> {
  let now: [Ctx, ActorRef<number>] | undefined
  return eventSourced('adder', {
    initial: () => 0,
    events: { added: (n) => (within(...now!) as number | undefined) ?? n + 1 },
    commands: {
      add(ctx, m) {
        now = [ctx as unknown as Ctx, m.replyTo as unknown as ActorRef<number>]
        ctx.persist({ type: 'added' })
        ctx.tell(m.replyTo, ctx.state)
      },
    },
    ...(keep as object),
  })
}

async function outcome(kit: TestKit, ref: ActorRef<Add>): Promise<unknown> {
  const asked = ref.ask({ type: 'add' }, { timeout: 20_000 }).catch((cause: { code?: string; message: string }) => cause.code ?? cause.message)
  await kit.advance(15_000)
  return asked
}

describe('an event handler', () => {
  test('that tells, asks, sets a timer or stops is refused: it would do so again at every recovery', async () => {
    const heard: unknown[] = []
    const source = memory()
    await using kit = kitWith(source)
    const other = kit.system.spawn(
      receive<string>((_ctx, m) => {
        heard.push(m)
        return same
      }),
    )
    const impure: Parameters<typeof adder>[0][] = [
      (ctx) => ctx.tell(other, 'by the context'),
      () => other.tell('by a ref'),
      (_ctx, replyTo) => replyTo.tell(5),
      (ctx) => ctx.timers.once('t', 5, { type: 'add' } as never),
      (ctx) => ctx.stop(),
      (ctx) => ctx.after(() => undefined),
    ]
    for (const [i, within] of impure.entries()) expect(await outcome(kit, kit.system.spawn(adder(within)(`${i}`)))).toBe('not-allowed')
    expect([heard, impure.map((_, i) => source.eventsOf(`adder/${i}`).length)]).toEqual([[], impure.map(() => 0)])
  })

  test('that returns a promise, and an initial state that is one, are refused', async () => {
    const source = memory()
    await using kit = kitWith(source)
    expect(await outcome(kit, kit.system.spawn(adder(() => Promise.reject(new Error('unseen')))('a')))).toBe('not-allowed')
    expect(source.eventsOf('adder/a')).toEqual([])
    class Later extends EventSourced<number, { type: 'added' }> {
      static readonly persistence = { kind: 'later' }
      protected initial(): number {
        return 0
      }
      protected apply(n: number): number {
        return Promise.resolve(n + 1) as never
      }
      add(): number {
        this.persist({ type: 'added' })
        return this.state
      }
    }
    const added = kit.system
      .spawn(Later, { args: ['a'] })
      .ask.add()
      .catch((cause: { code?: string }) => cause.code)
    await kit.advance(100)
    expect(await added).toBe('not-allowed')
    const states: Kind<Add>[] = [
      durableState('promised', {
        initial: () => Promise.resolve(0) as unknown as number,
        commands: { add: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
      }),
      eventSourced('promising', {
        initial: () => Promise.resolve(0) as unknown as number,
        events: {},
        commands: { add: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
      }),
    ]
    for (const kind of states) expect(await outcome(kit, kit.system.spawn(kind('a')))).toBe('ask-target-stopped')
    const throws: Kind<Add> = durableState('throws', { initial: (): number => JSON.parse('{') as number, commands: { add: () => undefined } })
    expect(await outcome(kit, kit.system.spawn(throws('a')))).toBe('ask-target-stopped')
  })
})

describe('names', () => {
  test.each([
    ['no list', () => 'large', /Option tags/],
    ['nothing', () => undefined, /Option tags/],
    ['a promise', () => Promise.resolve([]), /Option tags/],
    ['no text', () => [5], /Option tags/],
    ['an empty text', () => [''], /Option tags/],
    ['half a pair', () => ['\ud800'], /Option tags/],
    ['too long', () => ['x'.repeat(201)], /Option tags/],
  ])('tags that are %s are refused, and nothing is stored', async (_what, tags, why) => {
    const source = memory()
    await using kit = kitWith(source)
    const ref = kit.system.spawn(adder(() => undefined, { tags: tags as never })('a'))
    const asked = ref.ask({ type: 'add' }).catch((cause: Error) => cause.message)
    await kit.advance(10)
    expect(await asked).toMatch(why)
    expect(source.eventsOf('adder/a')).toEqual([])
  })

  test('a key, a kind or a subject with half a pair of surrogates is refused: UTF-8 would make another name of it', async () => {
    const refused = expect.objectContaining({ code: 'invalid-option' }) as Error
    const kind = adder(() => undefined)
    expect(() => kind('\ud800')).toThrow(refused)
    expect(() => eventSourced('\udfff', { initial: () => 0, events: {}, commands: {} })).toThrow(refused)
    await using kit = kitWith(memory())
    expect(await outcome(kit, kit.system.spawn(adder(() => undefined, { subject: () => '\ud800' })('a')))).toBe('invalid-option')
  })

  test('a key that is longer than a journal can have is refused when it is named, not when it is written', () => {
    const kind = adder(() => undefined)
    expect(() => kind('漢'.repeat(400))).toThrow(/850 bytes/)
    for (const key of ['漢'.repeat(280), 'x'.repeat(400), '😀'.repeat(200)]) expect(kind(key)).toBeDefined()
  })
})

test('what a timer brings has no ref to tell, and the error says so', async () => {
  await using kit = kitWith(memory())
  type Late = { type: 'begin'; replyTo: ActorRef<string> } | { type: 'ring'; replyTo?: ActorRef<string> }
  let said = ''
  const late: Kind<Late> = eventSourced('late', {
    initial: () => 0,
    events: { rung: (n) => n + 1 },
    commands: {
      begin(ctx, m) {
        ctx.timers.once('t', 5, { type: 'ring' })
        ctx.tell(m.replyTo, 'set')
      },
      ring(ctx, m) {
        try {
          ctx.tell(m.replyTo as never, 'rung' as never)
        } catch (cause) {
          said = (cause as Error).message
        }
      },
    },
  })
  const asked = kit.system.spawn(late('a')).ask({ type: 'begin' })
  await kit.advance(1000)
  expect(await asked).toBe('set')
  expect(said).toMatch(/Option to is undefined: late\/a tells refs/)
})
