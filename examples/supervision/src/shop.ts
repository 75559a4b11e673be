// The children of a small shop. Each notes when it starts and when it ends, and crashes when told to.

import {
  type Behavior,
  child,
  type ChildSpec,
  type ChildTemplate,
  receive,
  same,
  setup,
  type Strategy,
  supervisor,
  type SupervisorMessage,
  template,
} from '@troupe/core'

export type Order = 'crash' | 'work'

/** Hears `+name` when a child has started and `-name` when it has ended. */
export type Listener = (line: string) => void

export function worker(name: string, heard: Listener): Behavior<Order> {
  return setup<Order>(() => {
    heard(`+${name}`)
    return receive<Order>(
      (_ctx, order) => {
        if (order === 'crash') throw new Error(`${name} lost its connection`)
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'PostStop') heard(`-${name}`)
        return same
      },
    )
  })
}

/** Five children and who needs whom; the order of declaration does not matter where `needs` says otherwise. */
export function shopChildren(heard: Listener): ChildSpec<Order>[] {
  const spec = (name: string, ...needs: string[]): ChildSpec<Order> => child(name, worker(name, heard), { needs })
  return [spec('log'), spec('db'), spec('cache', 'db'), spec('web', 'cache', 'log'), spec('mail', 'log')]
}

export function shop(strategy: Exclude<Strategy, 'simple-one-for-one'>, heard: Listener): Behavior<SupervisorMessage> {
  return supervisor({ strategy, children: shopChildren(heard) })
}

/** One kind of child, as many as there are visitors. */
export const visitor: ChildTemplate<[name: string, heard: Listener], Order> = template((name: string, heard: Listener) => worker(name, heard), {
  restart: 'transient',
})

export function visitors(): Behavior<SupervisorMessage> {
  return supervisor({ strategy: 'simple-one-for-one', template: visitor })
}

/** A branch that gives up at the first failure, under a root that gives it one more chance. */
export function branches(heard: Listener): Behavior<SupervisorMessage> {
  const storage = supervisor({
    strategy: 'all-for-one',
    intensity: 0,
    children: [child('db', worker('db', heard)), child('cache', worker('cache', heard))],
  })
  return supervisor({
    strategy: 'rest-for-one',
    intensity: 1,
    children: [child('log', worker('log', heard)), child('storage', storage), child('web', worker('web', heard))],
  })
}
