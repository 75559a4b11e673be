// Why a question was not answered in time, read off the target at the moment of the timeout: where the question is,
// what stands before it, what the target is busy with, and who waits for whom.

import { type AskExplanation, clauseOf, typeOf } from '../../values/errors.ts'
import type { PendingAsk } from './ask.ts'
import type { Cell } from '../turn/cell.ts'
import { inProgress, waitsFor } from './deadlock.ts'
import { askedBy, type Meta } from '../message/envelope.ts'
import type { Starting } from '../life/phase-info.ts'

/** The longest chain that is printed. */
const longest = 32
/** How far the mailbox, and the calls of a reentrant actor, are searched: a thousand questions that time out together must not look at each other. */
const furthest = 1000

export function explain(ask: PendingAsk): AskExplanation {
  const { target } = ask
  const { phase } = target
  const question = !ask.opened ? 'queued' : inProgress(ask) || inCall(ask) ? 'in-progress' : 'handled'
  const ahead = question === 'queued' ? target.aheadOf((meta) => askedBy(meta as Meta) === ask, furthest) : 0
  const busy = busyWith(target)
  const chain = chainOf(ask)
  const cause = (target.info as Partial<Starting> | undefined)?.hindrance?.() ?? target.info?.cause
  const parts = [cause === undefined ? `it is ${phase}` : `it is ${phase} because of: ${clauseOf(cause)}`]
  if (question === 'queued') parts.push(ahead === 1 ? '1 message is ahead' : `${ahead}${ahead === furthest ? ' or more' : ''} messages are ahead`)
  else if (question === 'handled') parts.push('it took the question and has not replied')
  if (busy !== undefined) parts.push(`${busy.what} in progress for ${Math.round(busy.ms)} ms`)
  const { held } = target.dispatcher
  if (held !== undefined && held.cell !== target) parts.push(`${held.cell.ref.path} held the thread for ${Math.round(held.ms)} ms`)
  if (chain.length > 1) parts.push(`the chain of asks is ${chain.join(' → ')}`)
  return { phase, cause, question, ahead, inProgress: busy, chain, text: parts.join(', ') }
}

/** What the target is busy with: a pending handler, the one whose turn it is, or the one that just held the thread. */
function busyWith(target: Cell): AskExplanation['inProgress'] {
  const { dispatcher, extras, ctx } = target
  const now = dispatcher.host.runtime.now()
  const pending = extras?.pending
  if (pending !== undefined) return { what: pending.what, ms: now - pending.since }
  const { held } = dispatcher
  if (held !== undefined && held.cell === target) return { what: held.what ?? 'messages', ms: held.ms }
  // The clock was last read before this handler began, so that the difference is at least what it took.
  if (dispatcher.current === target && ctx?.message !== undefined) return { what: typeOf(ctx.message), ms: now - dispatcher.now }
  for (const call of extras?.calls ?? []) if (call.message !== undefined) return { what: typeOf(call.message), ms: now - call.since }
  return undefined
}

/** Whether a reentrant target has the question among its calls; where there are too many to look at, it is taken for one of them. */
function inCall(ask: PendingAsk): boolean {
  let left = furthest
  for (const call of ask.target.extras?.calls ?? []) {
    if (left-- === 0 || (call.message !== undefined && askedBy(call.meta) === ask)) return true
  }
  return false
}

function chainOf(ask: PendingAsk): string[] {
  const chain = [ask.target.ref.path]
  for (let at = ask.edge?.asker; at !== undefined && chain.length < longest; at = askedBy(at.meta)?.edge?.asker) chain.unshift(at.cell.ref.path)
  for (let at = waitsFor(ask.target); at !== undefined && chain.length < longest; at = waitsFor(at.ask.target)) chain.push(at.ask.target.ref.path)
  return chain
}
