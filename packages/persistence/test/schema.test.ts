// The schema of a kind: what it refuses is not stored, because the actor could never start again.

import type { ActorRef, MessageSchema } from '@troupe/core'
import { DurableState, durableState, EventSourced, eventSourced, type Kind, memory } from '@troupe/persistence'
import { run, runState } from '@troupe/persistence/testing'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Account =
  | { type: 'put'; n: number; replyTo: ActorRef<number> }
  | { type: 'both'; replyTo: ActorRef<number> }
  | { type: 'get'; replyTo: ActorRef<number> }

/** A schema of this function: what it throws is the issue. */
function schemaOf(check: (value: never) => unknown): MessageSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        try {
          return { value: check(value as never) }
        } catch (cause) {
          return { issues: [{ message: (cause as Error).message }] }
        }
      },
    },
  }
}
const positive = schemaOf((value: { n: number }) => {
  if (value.n < 0) throw new Error('n is below 0')
  // A default, as schemas have them.
  return { unit: 'cent', ...value }
})

const events: Kind<Account> = eventSourced('account', {
  initial: () => ({ n: 0, unit: 'none' }),
  events: { put: (_s, e: { n: number; unit?: string }) => ({ n: e.n, unit: e.unit ?? 'none' }) },
  commands: {
    put(ctx, m) {
      ctx.persist({ type: 'put', n: m.n })
      ctx.tell(m.replyTo, ctx.state.n)
    },
    both(ctx, m) {
      ctx.persist({ type: 'put', n: 7 })
      ctx.tell(m.replyTo, 7)
      ctx.persist({ type: 'put', n: -7 })
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.unit === 'cent' ? ctx.state.n : -1),
  },
  schema: positive,
})
const state: Kind<Account> = durableState('account', {
  initial: () => ({ n: 0, unit: 'none' }),
  commands: {
    put(ctx, m) {
      ctx.set({ n: m.n } as never)
      ctx.tell(m.replyTo, ctx.state.n)
    },
    both(ctx, m) {
      ctx.set({ n: 7 } as never)
      ctx.tell(m.replyTo, 7)
      ctx.update((s) => ({ ...s, n: -s.n }))
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.unit === 'cent' ? ctx.state.n : -1),
  },
  schema: positive,
})

async function ends(kit: TestKit, promise: Promise<unknown>): Promise<unknown> {
  const ended = promise.catch((cause: { code?: string }) => cause.code)
  await kit.advance(1000)
  return ended
}

describe('what the schema refuses is not stored, and the actor continues', () => {
  for (const [style, kind] of [
    ['of events', events],
    ['of a durable state', state],
  ] as const)
    test(style, async () => {
      const source = memory()
      const kit = kitWith(source)
      const ref = kit.system.spawn(kind('1'))
      expect(await ends(kit, ref.ask({ type: 'put', n: 5 }))).toBe(5)
      const before = JSON.stringify(source.headOf('account/1'))
      expect(await ends(kit, ref.ask({ type: 'put', n: -5 }))).toBe('schema-mismatch')
      // All of a command or nothing: what it persisted before is not stored either.
      expect(await ends(kit, ref.ask({ type: 'both' }))).toBe('schema-mismatch')
      expect(JSON.stringify(source.headOf('account/1'))).toBe(before)
      expect(await ends(kit, ref.ask({ type: 'get' }))).toBe(5)
      ref.stop()
      await kit.settle()
      const next = kit.system.spawn(kind('1'))
      expect(await ends(kit, next.ask({ type: 'get' }))).toBe(5)
      await kit.end()
    })

  test('of classes', async () => {
    class Put extends EventSourced<number, { readonly type: 'put'; readonly n: number }> {
      static readonly persistence = { kind: 'put', schema: positive }
      protected initial(): number {
        return 0
      }
      protected apply(_s: number, e: { readonly n: number }): number {
        return e.n
      }
      put(n: number): number {
        this.persist({ type: 'put', n })
        return this.state
      }
    }
    class Kept extends DurableState<{ n: number }> {
      static readonly persistence = { kind: 'kept', schema: positive }
      protected initial(): { n: number } {
        return { n: 0 }
      }
      put(n: number): number {
        this.set({ n })
        return this.state.n
      }
    }
    const source = memory()
    const kit = kitWith(source)
    const put = kit.system.spawn(Put, { args: ['1'] })
    expect(await ends(kit, put.ask.put(-1))).toBe('schema-mismatch')
    const kept = kit.system.spawn(Kept, { args: ['1'] })
    expect(await ends(kit, kept.ask.put(-1))).toBe('schema-mismatch')
    for (const id of ['put/1', 'kept/1']) expect(source.headOf(id)).toMatchObject({ seq: 0, state: undefined })
    expect(await ends(kit, put.ask.put(1))).toBe(1)
    expect(await ends(kit, kept.ask.put(1))).toBe(1)
    await kit.end()
  })
})

test('a live actor has what it will have after a restart: the value that the schema makes', async () => {
  for (const kind of [events, state]) {
    const kit = kitWith(memory())
    const ref = kit.system.spawn(kind('1'))
    expect(await ends(kit, ref.ask({ type: 'put', n: 5 }))).toBe(5)
    expect(await ends(kit, ref.ask({ type: 'get' }))).toBe(5)
    await kit.end()
  }
})

test('the error names the event, its actor and the issues; run and runState fail with it, too', () => {
  const replyTo = {} as ActorRef<number>
  const refused = run(events, [], { type: 'put', n: -1, replyTo })
  expect(refused).toMatchObject({ events: [], error: { code: 'schema-mismatch', id: 'account/test', what: 'event put' } })
  expect((refused.error as Error).message).toBe(
    'Cannot persist event put of account/test: the schema refuses it: n is below 0. Nothing of the command is stored, for the actor could not read it again: correct the command or the schema.',
  )
  expect(runState(state, undefined, { type: 'put', n: -1, replyTo })).toMatchObject({ changes: 0, error: { code: 'schema-mismatch', what: 'state' } })
})

test('a schema that throws or is asynchronous refuses, too', () => {
  for (const validate of [() => Promise.reject(new Error('later')), () => JSON.parse('{') as never]) {
    const kind: Kind<{ type: 'add' }> = eventSourced('odd', {
      initial: () => 0,
      events: { added: (n) => n + 1 },
      commands: { add: (ctx) => ctx.persist({ type: 'added' }) },
      schema: { '~standard': { version: 1, vendor: 'test', validate } },
    })
    expect(run(kind, [], { type: 'add' }).error).toMatchObject({ code: 'schema-mismatch' })
  }
})
