// Spawn options, checked and completed. Most actors are spawned with a name at most: they all share one object.

import { own } from '../queues/contained.ts'
import { MessageRing } from '../queues/ring.ts'
import { ownPolicyOf, policyOf } from '../deciders/supervision.ts'
import { checkBoolean, checkFinite, checkKnown, checkObject, checkOneOf, checkWhole } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { MailboxKind } from '../values/mailbox.ts'
import { longestChain, type Middleware } from '../values/middleware.ts'
import type { Drain, SpawnOptions } from '../values/options.ts'
import type { SupervisionPolicy } from '../values/policy.ts'
import type { MessageSchema } from '../values/schema.ts'
import type { CellHost } from './host.ts'
import { cellOf } from './local-ref.ts'

export interface CellOptions {
  /** Nothing stands between a message and its handler: the fast turn is enough. */
  readonly plain: boolean
  readonly mailbox: MailboxKind | undefined
  /** How much of the actor's attention signals may take while messages wait, in percent. */
  readonly systemShare: number
  readonly stashCapacity: number
  readonly stashOverflow: 'error' | 'drop-oldest'
  readonly dispatcher: string | undefined
  /** Undefined where the parent's or the system's policy holds. */
  readonly supervision: SupervisionPolicy | undefined
  readonly childSupervision: SupervisionPolicy | undefined
  readonly drain: Drain
  readonly startTimeout: number
  readonly stopTimeout: number
  /** Whether that was given, and is not the default. */
  readonly ownStopTimeout: boolean
  readonly restartMailbox: 'keep' | 'clear'
  readonly restartChildren: 'stop' | 'keep'
  readonly reentrant: boolean
  /** How many calls of a reentrant actor may be pending. */
  readonly maxConcurrent: number
  readonly accepts: MessageSchema | undefined
  /** The system's links, then the actor's own. */
  readonly middleware: readonly Middleware[]
  readonly ownMiddleware: readonly Middleware[]
  readonly metrics: boolean
  /** For those who watch over threads. */
  readonly hangAfter: number | false | undefined
  /** After how many ms they are observed, again and again; undefined: not at all. */
  readonly metricsEvery: number | undefined
  /** Whether each message goes through middleware or measurements. */
  readonly passages: boolean
}

export const defaultOptions: CellOptions = {
  plain: true,
  mailbox: undefined,
  systemShare: 100,
  stashCapacity: 1000,
  stashOverflow: 'error',
  dispatcher: undefined,
  supervision: undefined,
  childSupervision: undefined,
  drain: 'dead-letter',
  startTimeout: 5000,
  stopTimeout: 5000,
  ownStopTimeout: false,
  restartMailbox: 'keep',
  restartChildren: 'stop',
  reentrant: false,
  maxConcurrent: Infinity,
  accepts: undefined,
  middleware: [],
  ownMiddleware: [],
  metrics: false,
  hangAfter: undefined,
  metricsEvery: undefined,
  passages: false,
}

const known: Readonly<Record<keyof SpawnOptions, true>> = {
  name: true,
  mailbox: true,
  stash: true,
  dispatcher: true,
  placement: true,
  supervision: true,
  childSupervision: true,
  drain: true,
  startTimeout: true,
  stopTimeout: true,
  onRestart: true,
  reentrant: true,
  accepts: true,
  middleware: true,
  metrics: true,
  hangAfter: true,
}

/** Checks what was given to `spawn`; the first wrong option fails with its name and the rule. */
export function resolveOptions(options: SpawnOptions | undefined, host: CellHost): CellOptions {
  if (options === undefined) return host.defaults
  if (typeof options !== 'object' || options === null) throw new InvalidOption('options', options, 'use an object such as { name }')
  let plain = true
  for (const key in options) {
    if (key === 'name') continue
    if (!Object.hasOwn(known, key))
      throw new InvalidOption(key, options[key as keyof SpawnOptions], `spawn knows no such option; it knows ${Object.keys(known).join(', ')}`)
    plain = false
  }
  return plain ? host.defaults : complete(options, host)
}

function complete(options: SpawnOptions, host: CellHost): CellOptions {
  const { mailbox, stash, onRestart, accepts, hangAfter, drain = defaultOptions.drain } = options
  if (mailbox !== undefined) checkMailbox(mailbox, host)
  if (options.dispatcher !== undefined && typeof options.dispatcher !== 'string')
    throw new InvalidOption('dispatcher', options.dispatcher, 'use the name of a dispatcher')
  if (accepts !== undefined && typeof accepts['~standard']?.validate !== 'function')
    throw new InvalidOption('accepts', accepts, 'use a Standard Schema, such as one of zod or valibot')
  if (typeof drain === 'object') {
    if (drain === null || typeof drain.redirect?.tell !== 'function')
      throw new InvalidOption('drain', drain, "use 'dead-letter', 'drop' or { redirect: ref }")
    if (cellOf(drain.redirect)?.dispatcher.host !== host)
      throw new InvalidOption('drain.redirect', drain.redirect, 'use a ref of an actor of this system')
  } else checkOneOf('drain', drain, ['dead-letter', 'drop'])
  checkObject('stash', stash)
  checkObject('onRestart', onRestart)
  const reentrant = typeof options.reentrant === 'object' ? true : checkBoolean('reentrant', options.reentrant ?? false)
  const maxConcurrent = typeof options.reentrant === 'object' ? checkWhole('reentrant.maxConcurrent', options.reentrant?.maxConcurrent, 1) : Infinity
  const ownMiddleware = checkMiddleware(options.middleware ?? [], host.defaults.middleware.length)
  const middleware = ownMiddleware.length === 0 ? host.defaults.middleware : [...host.defaults.middleware, ...ownMiddleware]
  const metricsEvery = everyOf(options.metrics, ['every'])
  const metrics = metricsEvery !== undefined || checkBoolean('metrics', options.metrics ?? host.defaults.metrics)
  const passages = metrics || middleware.length > 0
  return {
    plain: !reentrant && accepts === undefined && !passages && host.flightRecorder === undefined,
    mailbox: mailbox ?? (metrics ? meteredRing : undefined),
    systemShare: mailbox?.systemShare ?? defaultOptions.systemShare,
    stashCapacity: checkWhole('stash.capacity', stash?.capacity ?? defaultOptions.stashCapacity, 1),
    stashOverflow: checkOneOf('stash.overflow', stash?.overflow ?? defaultOptions.stashOverflow, ['error', 'drop-oldest']),
    dispatcher: options.dispatcher,
    supervision: said(options.supervision) ? ownPolicyOf(options.supervision, host.policy, 'supervision') : undefined,
    childSupervision: said(options.childSupervision) ? policyOf(options.childSupervision, host.policy, 'childSupervision') : undefined,
    drain,
    startTimeout: checkFinite('startTimeout', options.startTimeout ?? defaultOptions.startTimeout, 'above'),
    stopTimeout: checkFinite('stopTimeout', options.stopTimeout ?? defaultOptions.stopTimeout, 'from'),
    ownStopTimeout: options.stopTimeout !== undefined,
    restartMailbox: checkOneOf('onRestart.mailbox', onRestart?.mailbox ?? defaultOptions.restartMailbox, ['keep', 'clear']),
    restartChildren: checkOneOf('onRestart.children', onRestart?.children ?? defaultOptions.restartChildren, ['stop', 'keep']),
    reentrant,
    maxConcurrent,
    accepts,
    middleware,
    ownMiddleware,
    metrics,
    hangAfter: hangAfter === undefined || hangAfter === false ? hangAfter : checkWhole('hangAfter', hangAfter, 20),
    metricsEvery,
    passages,
  }
}

/** How often metrics are to be observed; undefined where nothing is said about it. */
export function everyOf(metrics: unknown, fields: readonly string[]): number | undefined {
  if (typeof metrics !== 'object') return undefined
  checkKnown('metrics', metrics, fields)
  return checkFinite('metrics.every', (metrics as { every?: unknown }).every, 'above')
}

/** What a system's actors have that were spawned with nothing special. */
export function defaultsOf(middleware: readonly Middleware[], metrics: boolean, recorded: boolean): CellOptions {
  const passages = metrics || middleware.length > 0
  if (!passages && !recorded) return defaultOptions
  return { ...defaultOptions, plain: false, mailbox: metrics ? meteredRing : undefined, middleware, metrics, passages }
}

/** The default mailbox, for actors that are measured: one that stays. */
const meteredRing: MailboxKind = { kind: 'unbounded', create: own(() => new MessageRing()) }

/** Refuses what is no chain of middleware, or is too long together with `before` links. */
export function checkMiddleware(links: unknown, before: number): readonly Middleware[] {
  if (!Array.isArray(links)) throw new InvalidOption('middleware', links, 'use an array of { before, after, error, close }')
  // Copied, so that a hole is seen, and what is done to the array later changes nothing.
  const chain = [...(links as readonly unknown[])]
  for (const [i, link] of chain.entries()) checkLink(i, link)
  if (chain.length + before > longestChain)
    throw new InvalidOption('middleware', links, `a chain has at most ${longestChain} links, those of the system included`)
  return chain as readonly Middleware[]
}

function checkLink(at: number, link: unknown): void {
  if (typeof link !== 'object' || link === null)
    throw new InvalidOption(`middleware[${at}]`, link, 'use an object such as { before, after, error, close }')
  for (const name of ['before', 'after', 'error', 'close'] as const) {
    const hook = (link as Record<string, unknown>)[name]
    if (hook !== undefined && typeof hook !== 'function') throw new InvalidOption(`middleware[${at}].${name}`, hook, 'use a function')
  }
}

/** Kinds check themselves where they are made; this is for those made by hand, and for what depends on the system. */
function checkMailbox(mailbox: MailboxKind, host: CellHost): void {
  if (typeof mailbox?.create !== 'function') throw new InvalidOption('mailbox', mailbox, 'use unbounded(), bounded(…), priority(…) or mailboxOf(…)')
  const { capacity, systemShare, overflow } = mailbox
  if (capacity !== undefined) checkWhole('mailbox.capacity', capacity, 1)
  if (systemShare !== undefined && checkFinite('mailbox.systemShare', systemShare, 'from') > 100)
    throw new InvalidOption('mailbox.systemShare', systemShare, 'use a percentage from 0 to 100')
  if (overflow === 'block' && host.runtime.id === 'manual')
    throw new InvalidOption(
      'mailbox.overflow',
      overflow,
      'a manual runtime runs only when pumped, so whoever waits for room could wait for itself; use another policy',
    )
}

/** Whether anything was said about supervision; otherwise the parent's or the system's policy holds. */
function said(supervision: SpawnOptions['supervision']): boolean {
  return supervision !== undefined && supervision !== 'inherit'
}
