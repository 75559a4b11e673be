// The far side of what is compared: makes values from recipes on its thread and sends them, and compares what it is sent.

import { type ActorRef, receive, same, setup } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'
import { differs, expectedOf } from './comparing.ts'
import { Maker } from './making.ts'
import type { Recipe } from './recipes.ts'

/** What was sent beside a value, so that it can be made again. */
export interface Slip {
  /** The recipe as text, for it must not depend on what is tried. */
  readonly recipe: string
  readonly refs: readonly ActorRef<unknown>[]
}

export type Crosser =
  /** Answers how the value differs from what is to come; '' where it does not. */
  | { readonly type: 'check'; readonly slip: Slip; readonly value: unknown; readonly replyTo: ActorRef<string> }
  /** As `check`, of the headers. */
  | { readonly type: 'headers'; readonly slip: Slip; readonly replyTo: ActorRef<string> }
  /** Answers with a value that is made here. */
  | { readonly type: 'answer'; readonly slip: Slip; readonly replyTo: ActorRef<unknown> }
  /** Tells a value that is made here, and then that it did. */
  | { readonly type: 'tell'; readonly slip: Slip; readonly to: ActorRef<Arrival>; readonly id: number; readonly headers: boolean }
  /** Fails with an error that has the value as its cause, and answers the question so. */
  | { readonly type: 'fail'; readonly slip: Slip; readonly replyTo: ActorRef<never> }
  /** Is restarted, and hands a value that is made here over to itself. */
  | { readonly type: 'hand-over'; readonly slip: Slip; readonly replyTo: ActorRef<never> }
  | { readonly type: 'handed'; readonly replyTo: ActorRef<string> }
  /** How the arguments differ. */
  | { readonly type: 'args'; readonly replyTo: ActorRef<string> }
  /** What a getter tells. */
  | { readonly type: 'told' }
  | { readonly type: 'count'; readonly replyTo: ActorRef<number> }

export type Arrival =
  | { readonly type: 'value'; readonly id: number; readonly value: unknown }
  | { readonly type: 'sent'; readonly id: number }
  | { readonly type: 'told' }

/** What was handed over last, by the only one that does so. */
let lastHanded: unknown

export const crosser: ActorDefinition<readonly [slip?: Slip, value?: unknown], Crosser> = defineActor(
  import.meta.url,
  'crosser',
  (slip?: Slip, value?: unknown) =>
    setup<Crosser>((ctx) => {
      let told = 0
      let handing: { readonly value: unknown } | undefined
      return receive<Crosser>(
        (_ctx, m) => {
          switch (m.type) {
            case 'check':
              m.replyTo.tell(check(m.slip, m.value))
              return same
            case 'headers':
              m.replyTo.tell(check(m.slip, ctx.headers['value']))
              return same
            case 'answer':
              m.replyTo.tell(makeFrom(m.slip, ctx.self))
              return same
            case 'tell': {
              const made = makeFrom(m.slip, ctx.self)
              if (m.headers) m.to.tell({ type: 'value', id: m.id, value: undefined }, { headers: { value: made } })
              else m.to.tell({ type: 'value', id: m.id, value: made })
              m.to.tell({ type: 'sent', id: m.id })
              return same
            }
            case 'fail':
              throw Object.assign(new Error('to fail', { cause: makeFrom(m.slip, ctx.self) }), { code: 'E_CROSSED' })
            case 'hand-over': {
              handing = { value: makeFrom(m.slip, ctx.self) }
              lastHanded = handing.value
              throw new Error('to be restarted')
            }
            case 'handed':
              m.replyTo.tell(
                ctx.incarnation > 0 && Object.is((ctx.handedOver as { value?: unknown } | undefined)?.value, lastHanded)
                  ? ''
                  : 'what was handed over is another',
              )
              return same
            case 'args':
              m.replyTo.tell(slip === undefined ? '' : check(slip, value))
              return same
            case 'told':
              told++
              return same
            case 'count':
              m.replyTo.tell(told)
              return same
          }
        },
        (_ctx, signal) => {
          if (signal.type === 'PreRestart' && handing !== undefined) ctx.handOver(handing)
        },
      )
    }),
)

/** A task: how its argument differs. */
export function checkTask(slip: Slip, value: unknown): string {
  return check(slip, value)
}
/** A task whose result is made here, in a list, for what it returns itself is awaited. */
export function makeTask(slip: Slip): readonly [unknown] {
  return [makeFrom(slip, undefined)]
}

function check({ recipe, refs }: Slip, value: unknown): string {
  const expected = expectedOf(JSON.parse(recipe) as Recipe, refs)
  if (!expected.mayArrive) return `it arrived, and was to be refused`
  return differs(expected.value, value, refs) ?? ''
}
function makeFrom({ recipe, refs }: Slip, self: ActorRef<Crosser> | undefined): unknown {
  const elsewhere = refs[0]!
  return new Maker({ standIn: false, refs, tell: () => (self === undefined ? undefined : elsewhere.tell({ type: 'told' })) }).make(
    JSON.parse(recipe) as Recipe,
  )
}
