// Every error Troupe throws or rejects with. Each says what was tried, on which path, and what to do about it.
// `code` is the identity that also holds across threads; `ActorError` (in actor-error.ts) is the user's to throw.

import type { ActorError } from './actor-error.ts'

/** The root of the errors that Troupe itself raises; compare by `code`. */
export abstract class TroupeError extends Error {
  abstract readonly code: string
  override get name(): string {
    return this.constructor.name
  }
}

/** An option of a system, a spawn or a call is wrong; names which and why. */
export class InvalidOption extends TroupeError {
  readonly code = 'invalid-option'
  declare readonly option: string
  constructor(option: string, value: unknown, rule: string, cause?: unknown) {
    super(`Option ${option} is ${show(value)}: ${rule}.`, cause === undefined ? undefined : { cause })
    this.option = option
  }
}

/** A name that could not stand in a path. */
export class InvalidName extends TroupeError {
  readonly code = 'invalid-name'
  constructor(name: unknown, parent: string, rule: string) {
    super(`Cannot name an actor ${show(name)} under ${parent}: ${rule}.`)
  }
}

/** The parent has a living child of that name. */
export class NameTaken extends TroupeError {
  readonly code = 'name-taken'
  declare readonly path: string
  constructor(path: string) {
    super(`Cannot spawn ${path}: the name is in use. Stop that actor first and wait for its end, or omit the name.`)
    this.path = path
  }
}

/** What was given to `spawn`, or returned by a handler, is not a behavior. */
export class NotABehavior extends TroupeError {
  readonly code = 'not-a-behavior'
  constructor(value: unknown, where: string, begins = false) {
    const use = begins ? 'or stopped; same and unhandled say what comes after a behavior, and there is none yet.' : 'same, stopped or unhandled.'
    super(`${where} ${show(value)}, which is not a behavior${begins ? ' to begin with' : ''}. Use receive(…), setup(…)${begins ? ' ' : ', '}${use}`)
  }
}

/** A behavior that brings options was returned by an actor that was spawned already, where they could only be lost. */
export class OptionsTooLate extends TroupeError {
  readonly code = 'options-too-late'
  /** The names of the options. */
  declare readonly options: readonly string[]
  constructor(where: string, options: readonly string[]) {
    const which = options.length === 0 ? '' : ` (${options.join(', ')})`
    super(
      `${where} a behavior that brings options${which}, which take effect at spawn only: there they would be lost. ` +
        'Write withOptions(setup(…), options), or give them to spawn. ' +
        'What brings options by itself, such as processor(…) or supervisor(…), is to be spawned as it is, here as a child.',
    )
    this.options = options
  }
}

/** The system is closing or closed and takes nothing new. */
export class SystemClosed extends TroupeError {
  readonly code = 'system-closed'
  constructor(system: string, what: string) {
    super(`Cannot ${what}: system ${system} is shutting down or closed. Do it before shutdown(), or create a new system.`)
  }
}

/** No dispatcher of that name, or it takes no actors any more. */
export class UnknownDispatcher extends TroupeError {
  readonly code = 'unknown-dispatcher'
  constructor(name: string, why: string) {
    super(`Cannot use dispatcher "${name}": ${why}.`)
  }
}

/** A context was used after its incarnation ended. */
export class ContextEnded extends TroupeError {
  readonly code = 'context-ended'
  declare readonly path: string
  constructor(path: string, what: string) {
    super(
      `Cannot ${what} through the context of ${path}: that incarnation has ended. ` +
        'Check ctx.signal.aborted after an await, and keep refs instead of contexts.',
    )
    this.path = path
  }
}

/** An operation that the actor's present phase does not allow. */
export class NotAllowed extends TroupeError {
  readonly code = 'not-allowed'
}

/** The runtime attempted a transition that its own table forbids: a bug of Troupe. */
export class InvalidTransition extends TroupeError {
  readonly code = 'invalid-transition'
  constructor(phase: string, event: string) {
    super(`Phase ${phase} knows no event ${event}. This is a bug of Troupe: report it with the stack.`)
  }
}

/** A ref of another system was given where one of this system is needed. */
export class ForeignRef extends TroupeError {
  readonly code = 'foreign-ref'
  constructor(path: string, what: string) {
    super(`Cannot ${what} ${path}: it is not an actor of this system. Use the system that spawned it, or the actor of an adapter.`)
  }
}

/** An actor's first start failed; `cause` says how. */
export class ActorInitializationError extends TroupeError {
  readonly code = 'actor-initialization'
  declare readonly path: string
  constructor(path: string, cause: unknown) {
    // The innermost gives the advice.
    const advice = cause instanceof ActorInitializationError ? '.' : '. A first start is not retried unless supervision says retryStart.'
    super(`${path} failed to start: ${clauseOf(cause)}${advice}`, { cause })
    this.path = path
  }
}

/** Start-up took longer than `startTimeout`. */
export class StartTimeout extends TroupeError {
  readonly code = 'start-timeout'
  constructor(path: string, ms: number) {
    super(`${path} did not start within ${ms} ms. Raise startTimeout, or start first and load later with pipeToSelf.`)
  }
}

/** A child escalated its failure; the parent fails with this under its own policy. */
export class Escalated extends TroupeError {
  readonly code = 'escalated'
  declare readonly child: string
  constructor(child: string, cause: unknown) {
    super(`${child} escalated its failure: ${messageOf(cause)}`, { cause })
    this.child = child
  }
}

/** The root of a system was killed, and the system ended with it. A root that failed leaves its own cause instead. */
export class RootKilled extends TroupeError {
  readonly code = 'root-killed'
  constructor(path: string) {
    super(`${path} was killed, and the system ended with it. Use shutdown() if that was meant.`)
  }
}

/** What the target of an unanswered question was doing. */
export interface AskExplanation {
  /** The target's phase. */
  readonly phase: string
  /** What it failed with before, where it starts, restarts or stops because of that. */
  readonly cause: unknown
  /** What became of the question: still in the mailbox, in progress, or handled without a reply. */
  readonly question: 'queued' | 'in-progress' | 'handled'
  /** Messages in front of the question in the mailbox; counted up to 1,000. */
  readonly ahead: number
  /** The message or signal that the target was busy with, and for how many milliseconds. */
  readonly inProgress: { readonly what: string; readonly ms: number } | undefined
  /** Who waits for whom, by path: those whose questions led to this one, the target, and those the target waits for. */
  readonly chain: readonly string[]
  /** All of it in words. */
  readonly text: string
}

/** No answer came in time. Says, in fields and words, what the target was doing. */
export class AskTimeout extends TroupeError {
  readonly code = 'ask-timeout'
  declare readonly path: string
  declare readonly timeout: number
  declare readonly phase: string
  declare readonly question: 'queued' | 'in-progress' | 'handled'
  declare readonly ahead: number
  declare readonly inProgress: { readonly what: string; readonly ms: number } | undefined
  declare readonly chain: readonly string[]
  constructor(path: string, timeout: number, { text, cause, ...explanation }: AskExplanation) {
    super(`${path} did not answer within ${timeout} ms: ${text}.`, { cause })
    Object.assign(this, { path, timeout }, explanation)
  }
}

/** The question could never be answered: whoever would answer it waits, directly or not, for whoever asks. */
export class DeadlockError extends TroupeError {
  readonly code = 'deadlock'
  /** The paths of the cycle, beginning and ending with the asker. */
  declare readonly cycle: readonly string[]
  constructor(cycle: readonly string[]) {
    super(
      `Asking would wait for ever: ${cycle.join(' → ')}. ` +
        'Reply or return before asking back, pipe the answer to self, or make one of them reentrant.',
    )
    this.cycle = cycle
  }
}

/** The target stopped, or was already gone, before it answered. */
export class AskTargetStopped extends TroupeError {
  readonly code = 'ask-target-stopped'
  declare readonly path: string
  constructor(path: string, cause: unknown) {
    const why = cause === undefined ? '' : ` (${messageOf(cause)})`
    super(`${path} stopped before it answered${why}. Watch it, or ask again once it is back.`, { cause })
    this.path = path
  }
}

/** The question's mailbox or filter refused it; `reason` is the dead letter's. */
export class AskRefused extends TroupeError {
  readonly code = 'ask-refused'
  constructor(path: string, reason: string) {
    super(`The question never reached ${path}: ${reason}. See system.deadLetters.`)
  }
}

/**
 * An answer that is an error: what `reject` tells whoever asked, and what a method of a class actor throws to do so. `cause` says what is wrong.
 *
 * @example
 * withdraw(amount: number): number {
 *   if (amount > this.balance) throw new Rejection(new Error('not enough money'))
 *   …
 * }
 */
export class Rejection extends TroupeError {
  readonly code = 'rejection'
  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
  }
}

/** What an answer rejects with, if it is a rejection. By its code: one from another thread or node is of no class of ours. */
export function rejectionIn(answer: unknown): { readonly cause?: unknown } | undefined {
  try {
    return answer instanceof Error && (answer as Partial<Rejection>).code === 'rejection' ? { cause: answer.cause } : undefined
  } catch {
    return undefined
  }
}

/** The question was answered with an error, by `reject` or a `Rejection`: `cause` is that error. The actor has not failed. */
export class AskRejected extends TroupeError {
  readonly code = 'ask-rejected'
  declare readonly path: string
  constructor(path: string, cause: unknown) {
    super(`${path} rejected the question: ${messageOf(cause)}`, { cause })
    this.path = path
  }
}

/** The question was handled, but not understood. */
export class Unhandled extends TroupeError {
  readonly code = 'unhandled'
  constructor(path: string, type: string) {
    super(`${path} does not handle ${type} in its present behavior. Check the protocol and the state it is in.`)
  }
}

/** The wait was given up: an aborted signal, or the end of the incarnation that waited. */
export class Cancelled extends TroupeError {
  readonly code = 'cancelled'
  constructor(what: string, cause?: unknown) {
    super(`${what} was cancelled.`, { cause })
  }
}

/** The mailbox did not take the message; it was given back, and not counted as sent. */
export class OfferRefused extends TroupeError {
  readonly code = 'offer-refused'
  declare readonly reason: string
  constructor(path: string, reason: string) {
    super(`${path} did not take the message: ${reason}. Offer again later, or drop it.`)
    this.reason = reason
  }
}

/** The stash is full and its policy is `error`. */
export class StashOverflow extends TroupeError {
  readonly code = 'stash-overflow'
  constructor(path: string, capacity: number) {
    super(`The stash of ${path} holds ${capacity} messages already. Unstash earlier, or set stash: { capacity, overflow }.`)
  }
}

/** A watched actor ended, nobody handled its Terminated, and the watch asked for a death pact. */
export class DeathPact extends TroupeError {
  readonly code = 'death-pact'
  constructor(watcher: string, ref: string) {
    super(`${watcher} was bound to ${ref} by a death pact and did not handle its Terminated. Handle the signal, or watch without deathPact.`)
  }
}

/** A short text of any value, for messages of errors. */
export function show(value: unknown): string {
  try {
    return look(value)
  } catch {
    return unreadable
  }
}

/** A getter or a proxy that throws must not turn the report of one mistake into another. */
const unreadable = 'something unreadable'

function look(value: unknown): string {
  // What a stranger sent may be longer than any log wants to be.
  if (typeof value === 'string') return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value !== 'object' || value === null) return String(value)
  const type = (value as { type?: unknown }).type
  if (typeof type === 'string') return `{ type: ${look(type)}, … }`
  return Object.prototype.toString.call(value)
}

/** The path of what may not be a ref at all. */
export function pathOf(ref: unknown): string {
  try {
    return String((ref as { readonly path?: unknown } | null | undefined)?.path)
  } catch {
    return unreadable
  }
}

/** The message of whatever was thrown. */
export function messageOf(cause: unknown): string {
  try {
    if (!(cause instanceof Error)) return show(cause)
    const said: unknown = cause.message || cause.name
    return typeof said === 'string' ? said : show(said)
  } catch {
    return unreadable
  }
}

/** The same without its full stop, for the midst of a sentence. */
export function clauseOf(cause: unknown): string {
  return messageOf(cause).replace(/\.$/, '')
}

/** The `ActorError` that a cause is, by its code: what is thrown may come from another copy of this package. */
export function actorErrorOf(cause: unknown): ActorError | undefined {
  try {
    return cause instanceof Error && (cause as { readonly code?: unknown }).code === 'actor-error' ? (cause as ActorError) : undefined
  } catch {
    return undefined
  }
}

/** How a message is called in logs: its `type` tag, its class, or its primitive type. */
export function typeOf(message: unknown): string {
  if (typeof message !== 'object' || message === null) return typeof message
  try {
    const tag = (message as { type?: unknown }).type
    if (typeof tag === 'string') return tag
    const name: unknown = message.constructor?.name
    return typeof name === 'string' ? name : 'object'
  } catch {
    return unreadable
  }
}

/** What was thrown, or an error in its place where it cannot even be asked what it is. */
export function readable(cause: unknown): unknown {
  try {
    void (cause instanceof Error)
    return cause
  } catch {
    return new Error('Something was thrown that cannot be read, such as a revoked proxy.')
  }
}
