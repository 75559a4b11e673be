// The way from the mailbox to the handler, where it leads through other code of the user: adapters, schemas, middleware.
// The message counts as in progress there, but it is not that code's to move: forwarded or put aside, and then handled as
// well, it would be in two places.

import { NotAllowed } from '../../values/errors.ts'
import type { Context } from '../context/context.ts'

/** Runs such code for the message of a context. */
export function entering<T>(ctx: Context, run: () => T): T {
  const { dispatcher } = ctx.cell
  const outer = dispatcher.entering
  dispatcher.entering = ctx
  try {
    return run()
  } finally {
    dispatcher.entering = outer
  }
}

/** Refuses to move a message that has not reached its handler. */
export function checkEntered(ctx: Context, what: string): void {
  const { dispatcher, ref } = ctx.cell
  if (dispatcher.entering === ctx)
    throw new NotAllowed(
      `${ref.path} cannot ${what} a message that has not reached its handler: an adapter, a schema or middleware still has it. Do it in the handler.`,
    )
}
