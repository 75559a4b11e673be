// Spawn options, checked and completed. Most actors are spawned with a name at most: they all share one object.

import { policyOf } from '../deciders/supervision.ts'
import { checkBoolean, checkFinite, checkObject, checkOneOf, checkWhole } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { MailboxKind } from '../values/mailbox.ts'
import type { Drain, SpawnOptions } from '../values/options.ts'
import type { SupervisionPolicy } from '../values/policy.ts'
import type { MessageSchema } from '../values/schema.ts'
import type { CellHost } from './host.ts'
import { cellOf } from './local-ref.ts'

export interface CellOptions {
  /** Nothing stands between a message and its handler: the fast turn is enough. */
  readonly plain: boolean
  readonly mailbox: MailboxKind | undefined
  readonly stashCapacity: number
  readonly stashOverflow: 'error' | 'drop-oldest'
  readonly dispatcher: string | undefined
  /** Undefined where the parent's or the system's policy holds. */
  readonly supervision: SupervisionPolicy | undefined
  readonly childSupervision: SupervisionPolicy | undefined
  readonly drain: Drain
  readonly startTimeout: number
  readonly stopTimeout: number
  readonly restartMailbox: 'keep' | 'clear'
  readonly restartChildren: 'stop' | 'keep'
  readonly reentrant: boolean
  readonly accepts: MessageSchema | undefined
}

export const defaultOptions: CellOptions = {
  plain: true,
  mailbox: undefined,
  stashCapacity: 1000,
  stashOverflow: 'error',
  dispatcher: undefined,
  supervision: undefined,
  childSupervision: undefined,
  drain: 'dead-letter',
  startTimeout: 5000,
  stopTimeout: 5000,
  restartMailbox: 'keep',
  restartChildren: 'stop',
  reentrant: false,
  accepts: undefined,
}

const known: Readonly<Record<keyof SpawnOptions, true>> = {
  name: true,
  mailbox: true,
  stash: true,
  dispatcher: true,
  supervision: true,
  childSupervision: true,
  drain: true,
  startTimeout: true,
  stopTimeout: true,
  onRestart: true,
  reentrant: true,
  accepts: true,
}

/** Checks what was given to `spawn`; the first wrong option fails with its name and the rule. */
export function resolveOptions(options: SpawnOptions | undefined, host: CellHost): CellOptions {
  if (options === undefined) return defaultOptions
  if (typeof options !== 'object' || options === null) throw new InvalidOption('options', options, 'use an object such as { name }')
  let plain = true
  for (const key in options) {
    if (key === 'name') continue
    if (!Object.hasOwn(known, key)) throw new InvalidOption(key, options[key as keyof SpawnOptions], `spawn knows no such option; it knows ${Object.keys(known).join(', ')}`)
    plain = false
  }
  return plain ? defaultOptions : complete(options, host)
}

function complete(options: SpawnOptions, host: CellHost): CellOptions {
  const { mailbox, stash, onRestart, accepts, drain = defaultOptions.drain } = options
  if (mailbox !== undefined && typeof mailbox.create !== 'function') throw new InvalidOption('mailbox', mailbox, 'use unbounded() or another kind of mailbox')
  if (options.dispatcher !== undefined && typeof options.dispatcher !== 'string') throw new InvalidOption('dispatcher', options.dispatcher, 'use the name of a dispatcher')
  if (accepts !== undefined && typeof accepts['~standard']?.validate !== 'function') throw new InvalidOption('accepts', accepts, 'use a Standard Schema, such as one of zod or valibot')
  if (typeof drain === 'object') {
    if (drain === null || typeof drain.redirect?.tell !== 'function') throw new InvalidOption('drain', drain, "use 'dead-letter', 'drop' or { redirect: ref }")
    if (cellOf(drain.redirect)?.dispatcher.host !== host) throw new InvalidOption('drain.redirect', drain.redirect, 'use a ref of an actor of this system')
  } else checkOneOf('drain', drain, ['dead-letter', 'drop'])
  checkObject('stash', stash)
  checkObject('onRestart', onRestart)
  const reentrant = checkBoolean('reentrant', options.reentrant ?? false)
  return {
    plain: !reentrant && accepts === undefined,
    mailbox,
    stashCapacity: checkWhole('stash.capacity', stash?.capacity ?? defaultOptions.stashCapacity, 1),
    stashOverflow: checkOneOf('stash.overflow', stash?.overflow ?? defaultOptions.stashOverflow, ['error', 'drop-oldest']),
    dispatcher: options.dispatcher,
    supervision: optionalPolicy(options.supervision, host, 'supervision'),
    childSupervision: optionalPolicy(options.childSupervision, host, 'childSupervision'),
    drain,
    startTimeout: checkFinite('startTimeout', options.startTimeout ?? defaultOptions.startTimeout, 'above'),
    stopTimeout: checkFinite('stopTimeout', options.stopTimeout ?? defaultOptions.stopTimeout, 'from'),
    restartMailbox: checkOneOf('onRestart.mailbox', onRestart?.mailbox ?? defaultOptions.restartMailbox, ['keep', 'clear']),
    restartChildren: checkOneOf('onRestart.children', onRestart?.children ?? defaultOptions.restartChildren, ['stop', 'keep']),
    reentrant,
    accepts,
  }
}

function optionalPolicy(supervision: SpawnOptions['supervision'], host: CellHost, option: string): SupervisionPolicy | undefined {
  return supervision === undefined || supervision === 'inherit' ? undefined : policyOf(supervision, host.policy, option)
}
