// What every resource actor does besides its own work: tell its owner, end with its owner, fail with an error that
// nobody handled, and let go when its incarnation ends.

import {
  type ActorContext,
  type ActorRef,
  type AnyRef,
  type Behavior,
  type Next,
  receive,
  setup,
  type Signal,
  stopped,
  unhandled,
} from '@troupe/core'
import { actorBehind, onRelease } from '@troupe/core/internal'
import { Carrier } from './credit.ts'
import { Ending } from './ending.ts'
import { Fall, type IoError } from './errors.ts'

/** What the code of a resource has at hand. */
export interface ResourceTools<E> {
  readonly self: AnyRef
  /** Tells the owner; where it cannot be told, the resource stops. */
  readonly tell: (event: E) => void
  /** Tells the owner of an error; unhandled, it fails this actor. */
  readonly report: (error: IoError, event: E) => void
  /** Tells the owner the last message, and stops once that was heard. */
  readonly finish: (event: E) => void
}

/** What the code of a resource does. */
export interface Resource<C> {
  onCommand(command: C, ctx: ActorContext<C>): Next<C>
  /** Lets go; `again` where the next incarnation will want the same place. */
  release(again: boolean): void
}

/** An actor around something outside, which `open` makes anew for each incarnation. */
export function resource<C extends { readonly type: string }, E>(
  owner: ActorRef<E> | undefined,
  open: (tools: ResourceTools<E>, ctx: ActorContext<C>) => Resource<C>,
): Behavior<C> {
  return setup<C | Fall>((ctx) => {
    const { self } = ctx
    let finished = false
    let again = false
    const source = { stale: false, credited: () => {}, undelivered: () => self.stop() }
    const carrier = new Carrier(self, source)
    const ending = new Ending(source, () => self.stop({ after: 'queued' }))
    const fall = (error: IoError): void => {
      ending.fail()
      if (!source.stale) self.tell(new Fall(error))
    }
    const tools: ResourceTools<E> = {
      self,
      tell: (event) => {
        if (!source.stale) owner?.tell(event, carrier)
      },
      report: (error, event) => {
        if (source.stale) return
        if (owner === undefined) fall(error)
        else
          owner.tell(
            event,
            ending.error(self, () => fall(error)),
          )
      },
      finish: (event) => {
        if (source.stale || finished) return
        finished = true
        if (owner === undefined) ending.seen()
        else owner.tell(event, ending.last(self))
      },
    }
    const made = open(tools, ctx)
    onRelease(ctx, {
      release: () => {
        source.stale = true
        made.release(again)
      },
    })
    const watched = owner === undefined ? undefined : actorBehind(owner)
    if (watched !== undefined && watched !== ctx.parent) ctx.watch(watched)
    return receive<C | Fall>(
      (c, m) => {
        if (m instanceof Fall) throw m.error
        return made.onCommand(m, c) as Next<C | Fall>
      },
      (_c, signal: Signal) => {
        if (signal.type === 'PreRestart') again = true
        return signal.type === 'Terminated' && signal.ref === watched ? stopped : unhandled
      },
    )
  })
}
