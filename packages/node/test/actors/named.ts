// Actors and a task that are found by name: their module is said to be where nothing is, so that whoever loaded it would fail.

import { Actor, type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor, defineTask } from '@troupe/node/threads'

const nowhere = 'file:///no/such/application.js'

export type Doubling = { readonly type: 'double'; readonly n: number; readonly replyTo: ActorRef<number> }
const doubling = (): Behavior<Doubling> =>
  receive((_ctx, m) => {
    m.replyTo.tell(2 * m.n)
    return same
  })

export const doubler: ActorDefinition<[], Doubling> = defineActor(nowhere, 'doubler', doubling)
/** Has a child that it spawns by its name, from its own thread. */
export const manager: ActorDefinition<[], Doubling> = defineActor(nowhere, 'manager', () =>
  receive<Doubling>(async (ctx, m) => {
    const child = ctx.spawn(doubler(), { dispatcher: 'pinned' })
    m.replyTo.tell(await child.ask({ type: 'double', n: m.n }))
    return same
  }),
)
export class Abacus extends Actor {
  sum(a: number, b: number): number {
    return a + b
  }
}
defineActor(nowhere, 'Abacus', Abacus)
export const triple: (n: number) => number = defineTask('triple', (n: number) => 3 * n)
