// Spawn options, checked and completed. Most actors are spawned with a name at most: they all share one object.

import { OwnKind } from '../../queues/own-kind.ts'
import { ownPolicyOf, policyOf } from '../../deciders/supervision.ts'
import {
  any,
  checkCan,
  checkFinite,
  checkFunction,
  checkMethods,
  checkObject,
  checkOneOf,
  checkPart,
  checkRef,
  checkText,
  checkWhole,
  readOptions,
  type Table,
} from '../../values/checks.ts'
import { InvalidOption } from '../../values/errors.ts'
import type { MailboxKind } from '../../values/mailbox.ts'
import { Measuring } from '../../values/measuring.ts'
import { longestChain, type Middleware } from '../../values/middleware.ts'
import type { Drain, SpawnOptions } from '../../values/options.ts'
import type { SupervisionPolicy } from '../../values/policy.ts'
import type { MessageSchema } from '../../values/schema.ts'
import type { CellHost } from '../turn/host.ts'
import type { Succession } from '../life/draining.ts'
import { cellOf } from '../ref/local-ref.ts'

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
  readonly drain: Drain | Succession
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
  /** Whether one of its links is told of signals. */
  readonly linksHear: boolean
  readonly logFields: SpawnOptions['logFields']
  readonly metrics: Measuring | undefined
  /** For those who watch over threads. */
  readonly hangAfter: number | false | undefined
  readonly kind: string | undefined
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
  linksHear: false,
  logFields: undefined,
  metrics: undefined,
  hangAfter: undefined,
  kind: undefined,
}

/** What measures actors, or that none does. */
export function checkMeasuring(option: string, value: unknown): unknown {
  if (value === false || value instanceof Measuring) return value
  throw new InvalidOption(option, value, 'use measured(), or false')
}

/** What each option of `spawn` may be, as far as that can be told without the system. */
export const spawnTable: Table<SpawnOptions & { readonly args: unknown }> = {
  name: any,
  mailbox: checkMailbox,
  stash: [checkPart, { capacity: [checkWhole, 1], overflow: [checkOneOf, ['error', 'drop-oldest']] } satisfies Table<SpawnOptions['stash'] & object>],
  dispatcher: checkText,
  placement: any,
  supervision: any,
  childSupervision: any,
  drain: checkDrain,
  startTimeout: [checkFinite, 'above'],
  stopTimeout: [checkFinite, 'from'],
  onRestart: [
    checkPart,
    { mailbox: [checkOneOf, ['keep', 'clear']], children: [checkOneOf, ['stop', 'keep']] } satisfies Table<SpawnOptions['onRestart'] & object>,
  ],
  reentrant: (option, value) =>
    typeof value === 'boolean' ? value : checkPart<{ readonly maxConcurrent: number }>(option, value, { maxConcurrent: [checkWhole, 1, true] }),
  accepts: (option, value) => {
    checkCan(option, (value as Partial<MessageSchema> | null)?.['~standard'], ['a Standard Schema, such as one of zod or valibot', 'validate'])
    return value
  },
  middleware: checkMiddleware,
  metrics: checkMeasuring,
  logFields: (option, value) => (typeof value === 'function' ? value : checkObject(option, value)),
  hangAfter: (option, value) => (value === false ? value : checkWhole(option, value, 20)),
  kind: checkText,
  // Those of a class are taken before this.
  args: (option, value) => {
    throw new InvalidOption(option, value, 'only a class takes them')
  },
}

/** Checks what was given to `spawn`; the first wrong option fails with its name and the rule. */
export function resolveOptions(options: SpawnOptions | undefined, host: CellHost): CellOptions {
  for (const key in options)
    if (key !== 'name' && key !== 'kind') return complete(readOptions('spawn', options, spawnTable as Table<SpawnOptions>), host)
  const kind = options?.kind
  return kind === undefined ? host.defaults : ofKind(checkText('kind', kind), host)
}

/** So many are remembered: whoever makes up a kind for each actor gets what it asks for, but not for ever. */
const kindsKept = 1000

/** All of one kind that were spawned with nothing else special share one object too. */
function ofKind(kind: string, host: CellHost): CellOptions {
  const { kinds } = host
  let options = kinds.get(kind)
  if (options === undefined) {
    options = { ...host.defaults, kind }
    if (kinds.size < kindsKept) kinds.set(kind, options)
  }
  return options
}

function complete(options: SpawnOptions, host: CellHost): CellOptions {
  const d = defaultOptions
  const { mailbox, stash, onRestart, accepts, drain, dispatcher, supervision, childSupervision, startTimeout, stopTimeout, reentrant } = options
  const inherited = host.defaults.middleware
  const { hangAfter, kind, logFields, middleware: ownMiddleware = [], metrics: measured = host.defaults.metrics } = options
  if (mailbox?.overflow === 'block' && host.runtime.id === 'manual')
    throw new InvalidOption(
      'mailbox.overflow',
      mailbox.overflow,
      'a manual runtime runs only when pumped, so whoever waits for room could wait for itself; use another policy',
    )
  if (typeof drain === 'object' && cellOf(drain.redirect)?.host !== host)
    throw new InvalidOption('drain.redirect', drain.redirect, 'use a ref of an actor of this system')
  const middleware = ownMiddleware.length === 0 ? inherited : checkLength([...inherited, ...ownMiddleware])
  const metrics = measured === false ? undefined : measured
  return {
    plain: !reentrant && accepts === undefined && metrics === undefined && middleware.length === 0 && host.flightRecorder === undefined,
    mailbox: mailbox ?? metrics?.mailbox,
    systemShare: mailbox?.systemShare ?? d.systemShare,
    stashCapacity: stash?.capacity ?? d.stashCapacity,
    stashOverflow: stash?.overflow ?? d.stashOverflow,
    dispatcher,
    supervision: ownPolicyOf(supervision, undefined, 'supervision'),
    childSupervision: policyOf(childSupervision, undefined, 'childSupervision'),
    drain: drain ?? d.drain,
    startTimeout: startTimeout ?? d.startTimeout,
    stopTimeout: stopTimeout ?? d.stopTimeout,
    ownStopTimeout: stopTimeout !== undefined,
    restartMailbox: onRestart?.mailbox ?? d.restartMailbox,
    restartChildren: onRestart?.children ?? d.restartChildren,
    reentrant: Boolean(reentrant),
    maxConcurrent: typeof reentrant === 'object' ? reentrant.maxConcurrent : Infinity,
    accepts,
    middleware,
    ownMiddleware,
    linksHear: hears(middleware),
    logFields,
    metrics,
    hangAfter,
    kind,
  }
}

function hears(middleware: readonly Middleware[]): boolean {
  return middleware.some((link) => link.signal !== undefined)
}

/** What a system's actors have that were spawned with nothing special. */
export function defaultsOf(middleware: readonly Middleware[], metrics: Measuring | undefined, recorded: boolean): CellOptions {
  if (metrics === undefined && middleware.length === 0 && !recorded) return defaultOptions
  return { ...defaultOptions, plain: false, mailbox: metrics?.mailbox, middleware, linksHear: hears(middleware), metrics }
}

const linkTable: Table<Middleware> = {
  name: any,
  before: checkFunction,
  after: checkFunction,
  error: checkFunction,
  signal: checkFunction,
  close: checkFunction,
}

/** Refuses what is not a chain of middleware. Copied, so that a hole is seen, and what is done to the array later changes nothing. */
export function checkMiddleware(option: string, links: unknown): readonly Middleware[] {
  if (!Array.isArray(links)) throw new InvalidOption(option, links, 'use an array of { before, after, error, signal, close }')
  const chain = [...(links as readonly unknown[])]
  for (const [i, link] of chain.entries()) {
    const at = `${option}[${i}]`
    checkObject(at, link)
    // Kept as they are; one that is of a class may have other things of its own.
    const plain = Object.getPrototypeOf(link) === Object.prototype
    if (plain) checkPart(at, link, linkTable)
    else checkMethods<Middleware>(at, link, [], ['before', 'after', 'error', 'signal', 'close'])
  }
  return checkLength(chain as readonly Middleware[])
}

function checkLength(chain: readonly Middleware[]): readonly Middleware[] {
  if (chain.length <= longestChain) return chain
  throw new InvalidOption('middleware', chain, `a chain has at most ${longestChain} links, those of the system included`)
}

function checkDrain(option: string, drain: unknown): Drain {
  if (typeof drain === 'object') checkPart<Drain & object>(option, drain, { redirect: [checkRef, 0, true] })
  if (typeof drain === 'object' || drain === 'dead-letter' || drain === 'drop') return drain as Drain
  throw new InvalidOption(option, drain, "use 'dead-letter', 'drop' or { redirect: ref }")
}

/** Kinds check themselves where they are made. */
function checkMailbox(option: string, mailbox: unknown): OwnKind {
  if (mailbox instanceof OwnKind) return mailbox
  throw new InvalidOption(option, mailbox, 'use unbounded(), bounded(…), priority(…) or mailboxOf(…)')
}
