// Snapshots that an event asks for.

import type { ActorRef } from '@troupe/core'
import { eventSourced, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { environment } from './contract/stage.ts'
import { kitWith } from './counter.ts'

type Order = { type: 'add'; items: readonly string[]; replyTo: ActorRef<number> } | { type: 'close'; replyTo: ActorRef<number> }
interface State {
  readonly items: readonly string[]
  readonly closed: boolean
}

const order = (snapshotWhen: (state: State, event: { readonly type: string }) => boolean): Kind<Order> =>
  eventSourced('order', {
    initial: (): State => ({ items: [], closed: false }),
    events: {
      added: (state, e: { item: string }) => ({ ...state, items: [...state.items, e.item] }),
      closed: (state) => ({ ...state, closed: true }),
    },
    commands: {
      add(ctx, m) {
        ctx.persist(...m.items.map((item) => ({ type: 'added' as const, item })))
        ctx.tell(m.replyTo, ctx.state.items.length)
      },
      close(ctx, m) {
        ctx.persist({ type: 'closed' })
        ctx.tell(m.replyTo, ctx.state.items.length)
      },
    },
    snapshotEvery: 0,
    snapshotWhen,
  })

test('a snapshot is taken after the event that asks for it, of the state that the whole command has made, and recovery begins there', async () => {
  const journal = memory()
  const asked: string[] = []
  const kind = order((state, event) => {
    asked.push(`${event.type} ${state.items.length}`)
    return state.closed || state.items.at(-1) === 'first of two'
  })
  const kit = kitWith(journal)
  const ref = kit.system.spawn(kind('a'))
  const ask = async (question: { type: 'add'; items: readonly string[] } | { type: 'close' }): Promise<number> => {
    const answer = ref.ask(question as never)
    await kit.settle()
    return answer
  }
  const snapshotAt = async (): Promise<number | undefined> => {
    const reader = await journal.open(environment)
    const [head] = await reader.heads(['order/a'])
    return head?.snapshot?.seq
  }
  await ask({ type: 'add', items: ['book'] })
  expect(await snapshotAt()).toBeUndefined()
  await ask({ type: 'add', items: ['first of two', 'second'] })
  expect(await snapshotAt()).toBe(3)
  await ask({ type: 'close' })
  expect(await snapshotAt()).toBe(4)
  expect(asked).toEqual(['added 1', 'added 2', 'added 3', 'closed 3'])
  await kit.end()
})

test('what it throws, or a promise, fails the command, and nothing of it is stored', async () => {
  const journal = memory()
  let answer: () => boolean = () => {
    throw new RangeError('odd')
  }
  const kit = kitWith(journal)
  const ref = kit.system.spawn(order(() => answer())('a'), { supervision: 'resume' })
  const refused = async (): Promise<unknown> => {
    const asked = ref.ask({ type: 'add', items: ['x'] }).catch((cause: unknown) => cause)
    await kit.settle()
    return asked
  }
  expect(await refused()).toBeInstanceOf(RangeError)
  answer = (async () => true) as never
  expect(await refused()).toMatchObject({ code: 'not-allowed' })
  answer = () => false
  expect(await refused()).toBe(1)
  await kit.end()
})
