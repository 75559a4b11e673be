// An answer that is an error. It travels as an answer does, so that it waits for the journal, crosses threads and nodes, and counts as one.

import { adapterOf } from '../cell/ref/adapter.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import { checkRef } from '../values/checks.ts'
import { Rejection } from '../values/errors.ts'
import type { AnyRef } from '../values/ref.ts'

/**
 * Answers a question with an error: its `ask` rejects with `AskRejected`, whose `cause` is that error. The actor that answers does not fail,
 * its state stays, and the question counts as handled.
 *
 * Guarantees: as any answer, the first counts, and a later one is a dead letter `late-reply`. Where `replyTo` is an actor or an adapter and
 * no question, the rejection is a dead letter `no-recipient`: nobody waits for it. Fails: `InvalidOption` where `replyTo` is no ref.
 *
 * @example
 * if (m.amount > balance) reject(m.replyTo, new Error('not enough money'))
 */
export function reject(replyTo: AnyRef, cause: unknown): void {
  const to = checkRef('replyTo', replyTo) as AnyRef
  const rejection = new Rejection(cause)
  const cell = cellOf(to) ?? adapterOf(to)?.cell
  if (cell === undefined) return to.tell(rejection as never)
  const { host, ledger } = cell.dispatcher
  ledger.sent++
  host.bury(rejection, undefined, to, 'no-recipient')
}
