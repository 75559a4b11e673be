// A parent with three children, for tests of whose failure concerns whom.

import type { TestKit } from '@troupe/testkit'
import { type ActorRef, receive, same, setup, type Signal, type SpawnOptions, supervise, type Supervision } from '@troupe/core'
import { keeper, type Msg, quick } from './keeper.ts'

export interface Group {
  readonly parent: ActorRef<Msg>
  readonly children: ActorRef<Msg>[]
  readonly logs: Readonly<Record<string, string[]>>
  readonly heard: Signal[]
  /** Phase and incarnation of each child. */
  states(): Promise<string[]>
}

/** A parent with children a, b, c; fails itself when told to. */
export async function group(
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

export const scoped = (scope: 'one-for-one' | 'all-for-one' | 'rest-for-one', more: object = {}): Supervision =>
  supervise({ scope, backoff: quick, ...more })
