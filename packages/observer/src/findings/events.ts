// Observations as those see them who look from outside: words and numbers. Messages, causes and refs stay where they are; of a cause its
// first line is told, of a message its type.

import type { AnyRef, Observation } from '@troupe/core'
import { pathOf, typeOf } from '@troupe/core/internal'
import type { SeenEvent } from './frame.ts'
import { count, duration } from './words.ts'

const longestCause = 200

/** The first line of a cause; whatever was thrown, this does not throw. */
export function causeText(cause: unknown): string {
  try {
    const { name, message } = cause as { name?: unknown; message?: unknown }
    const said = typeof message === 'string' ? (typeof name === 'string' && name !== 'Error' ? `${name}: ${message}` : message) : String(cause)
    const [line = ''] = said.split('\n')
    return line.length > longestCause ? `${line.slice(0, longestCause)}…` : line
  } catch {
    return 'a cause that cannot be read'
  }
}

const about = (ref: AnyRef | undefined): { readonly uid?: number; readonly path?: string } =>
  ref === undefined ? {} : { uid: ref.uid, path: pathOf(ref) }

/** What is told of an observation; undefined of those that come with every actor, or that are figures. */
export function seenEvent(o: Observation): SeenEvent | undefined {
  const { type, at } = o
  switch (o.type) {
    case 'actor.spawned':
    case 'actor.phase':
    case 'metrics.system':
    case 'metrics.actor':
      return undefined
    case 'actor.failed': {
      const cause = causeText(o.cause)
      const message = o.message === undefined ? undefined : typeOf(o.message)
      return {
        type,
        at,
        ...about(o.ref),
        cause,
        directive: o.directive,
        message,
        text: `failed${message === undefined ? '' : ` at ${message}`}: ${cause}`,
      }
    }
    case 'directive': {
      const { directive, attempt, delay, limit } = o
      const most = limit.restarts < Number.MAX_SAFE_INTEGER ? `at most ${count(limit.restarts)} in ${duration(limit.within)}` : 'without a limit'
      const text = directive === 'restart' ? `restart ${count(attempt)}, ${most}, ${delay < 0.5 ? 'at once' : `after ${duration(delay)}`}` : directive
      return { type, at, ...about(o.ref), directive, attempt, delay, text }
    }
    case 'actor.terminated': {
      const cause = o.cause === undefined ? undefined : causeText(o.cause)
      return { type, at, ...about(o.ref), reason: o.reason, cause, text: `ended: ${o.reason}${cause === undefined ? '' : `, ${cause}`}` }
    }
    case 'message.dead': {
      const { letter } = o
      const message = typeOf(letter.message)
      const sender = letter.sender === undefined ? undefined : pathOf(letter.sender)
      return { type, at, ...about(letter.recipient), message, reason: letter.reason, sender, text: `dead letter ${message}: ${letter.reason}` }
    }
    case 'message.unhandled':
      return { type, at, ...about(o.ref), message: typeOf(o.message), text: `did not understand ${typeOf(o.message)}` }
    case 'ask.timeout':
      return {
        type,
        at,
        ...about(o.ref),
        ms: o.ms,
        sender: o.asker === undefined ? undefined : pathOf(o.asker),
        text: `no answer within ${o.ms} ms: ${o.explanation.text}`,
      }
    case 'deadlock':
      return { type, at, ...about(o.ref), text: `${o.cycle.join(' → ')}${o.rejected ? ', refused' : ''}` }
    case 'stash.overflow':
      return { type, at, ...about(o.ref), text: `its stash of ${o.capacity} is full` }
    case 'control':
      return { type, at, ...about(o.ref), text: `${o.verb}, by ${o.by}` }
    case 'mailbox.pressure':
      return { type, at, ...about(o.ref), text: o.level === 'high' ? `${o.depth} messages wait` : `back at ${o.depth} messages` }
    case 'events.backpressured':
      return { type, at, ...about(o.ref), text: o.level === 'high' ? `loses events: ${o.dropped} so far` : 'takes events again' }
    case 'turn.slow':
      return {
        type,
        at,
        ...about(o.ref),
        ms: o.ms,
        message: o.message,
        text: `held the thread for ${Math.round(o.ms)} ms${o.message === undefined ? '' : ` at ${o.message}`}`,
      }
    case 'thread.started':
      return { type, at, text: `thread ${o.thread} is up` }
    case 'thread.lost':
      return {
        type,
        at,
        path: o.actor,
        cause: causeText(o.cause),
        message: o.message,
        text: `thread ${o.thread} was lost: ${o.why}, with ${o.actors} actors`,
      }
    case 'adapter.replaced':
      return { type, at, ...about(o.ref), text: `adapter ${o.key} was replaced` }
  }
}
