// Actors whose work takes long: with breaths, without, and for ever.

import { type ActorRef, type Behavior, receive, same, type SpawnOptions } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Labor =
  /** Without a breath. */
  | { readonly type: 'burn'; readonly ms: number; readonly replyTo: ActorRef<number> }
  /** Without a breath, but not in its turn any more. */
  | { readonly type: 'burn-later'; readonly ms: number; readonly replyTo: ActorRef<number> }
  | { readonly type: 'breathe'; readonly stretches: number; readonly ms: number; readonly replyTo: ActorRef<number> }
  /** Breathes until somebody else on its thread says `release`. */
  | { readonly type: 'wait'; readonly report: ActorRef<string> }
  | { readonly type: 'release' }
  /** Tells, breathes again and again without waiting for it, and never comes back. */
  | { readonly type: 'last-words'; readonly report: ActorRef<string> }
  | { readonly type: 'breathe-and-spin' }
  | { readonly type: 'spin' }
  | { readonly type: 'spawn'; readonly options: SpawnOptions; readonly replyTo: ActorRef<ActorRef<Labor> | string> }
  /** Answers with its incarnation. */
  | { readonly type: 'state'; readonly replyTo: ActorRef<number> }

const gate = { open: false }

const never = new Int32Array(new SharedArrayBuffer(4))

/** Holds its thread, which for whoever watches is the same as work; a machine with few cores has them for others meanwhile. Also a task. */
export function burn(ms: number): void {
  const until = performance.now() + ms
  for (let left = ms; left > 0; left = until - performance.now()) Atomics.wait(never, 0, 0, Math.min(left, 50))
}

/** As an endless loop does. */
function hang(): never {
  for (;;) burn(1000)
}

const labor = (): Behavior<Labor> =>
  receive<Labor>(async (ctx, m) => {
    switch (m.type) {
      case 'burn':
        burn(m.ms)
        m.replyTo.tell(ctx.incarnation)
        return same
      case 'burn-later':
        await new Promise((resolve) => setImmediate(resolve))
        burn(m.ms)
        m.replyTo.tell(ctx.incarnation)
        return same
      case 'breathe':
        for (let i = 0; i < m.stretches; i++) {
          burn(m.ms)
          await ctx.breathe()
        }
        m.replyTo.tell(ctx.incarnation)
        return same
      case 'wait':
        m.report.tell('at work')
        while (!gate.open) await ctx.breathe()
        m.report.tell('released')
        return same
      case 'release':
        gate.open = true
        return same
      case 'last-words':
        m.report.tell('last words')
        for (;;) {
          void ctx.breathe()
          burn(50)
        }
      case 'breathe-and-spin':
        await ctx.breathe()
        return hang()
      case 'spin':
        return hang()
      case 'spawn':
        try {
          m.replyTo.tell(ctx.spawn(laborer(), m.options))
        } catch (cause) {
          m.replyTo.tell((cause as Error).message)
        }
        return same
      case 'state':
        m.replyTo.tell(ctx.incarnation)
        return same
    }
  })

export const laborer: ActorDefinition<[], Labor> = defineActor(import.meta.url, 'laborer', labor)

/** Says in its definition that its turns may take long. */
export const patient: ActorDefinition<[], Labor> = defineActor(import.meta.url, 'patient', labor, { hangAfter: 60_000 })

/** Says in its definition that it may hang for ever. */
export const unwatched: ActorDefinition<[], Labor> = defineActor(import.meta.url, 'unwatched', labor, { hangAfter: false })
