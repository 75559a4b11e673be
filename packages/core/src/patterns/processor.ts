// Work with a limit: so many messages in progress at once, so many more in the mailbox, and a policy beyond that. The
// mailbox is the queue, so that the ledger, `offer`, stop and restart mean what they always mean.

import { bounded, checkOverflow } from './mailboxes.ts'
import { type Behavior, receive, withOptions } from '../values/behavior.ts'
import { checkFunction, checkWhole, readOptions, type Table } from '../values/checks.ts'
import type { ActorContext } from '../values/context.ts'
import type { Overflow } from '../values/mailbox.ts'

/** How much a processor does at once, and how much may wait. */
export interface ProcessorOptions {
  /** Messages in progress at once; 5 if left out. */
  readonly maxConcurrent?: number | undefined
  /** Messages that may wait; 1,000 if left out. */
  readonly capacity?: number | undefined
  /** What happens to more than that; `reject` if left out, `block` for backpressure with `offer`. */
  readonly overflow?: Overflow | undefined
}

const table: Table<ProcessorOptions> = { maxConcurrent: [checkWhole, 1], capacity: [checkWhole, 1], overflow: checkOverflow }

/**
 * An actor that works on several messages at once, up to a limit, and keeps a bounded queue beyond it.
 *
 * Guarantees: never more than `maxConcurrent` in progress; messages begin in order. Fails: what `work` throws fails its
 * message, rejects an ask with the cause, and leaves the others alone.
 *
 * @example
 * const fetcher = system.spawn(processor<Fetch>(async (ctx, m) => m.replyTo.tell(await get(m.url, ctx.signal)), { maxConcurrent: 3 }))
 */
export function processor<M>(work: (ctx: ActorContext<M>, message: M) => unknown, options: ProcessorOptions = {}): Behavior<M> {
  checkFunction('work', work)
  const { maxConcurrent = 5, capacity = 1000, overflow = 'reject' } = readOptions('processor', options, table)
  const behavior = receive<M>(async (ctx, message) => {
    await work(ctx, message)
  })
  return withOptions(behavior, {
    reentrant: { maxConcurrent },
    mailbox: bounded(capacity, overflow),
    supervision: 'resume',
  })
}
