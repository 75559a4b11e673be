// Lets what a capsule holds happen again: the actor alone, on virtual time, given what it was given when it was, with stand-ins for everybody else. What it tells
// itself and what its timers send is dropped, for that came too, and is in the capsule.

import {
  type ActorClass,
  type ActorHooks,
  type AnyRef,
  type Behavior,
  type Clock,
  InvalidOption,
  type Middleware,
  type SpawnOptions,
  swallow,
  TroupeError,
} from '@troupe/core'
import { behaviorFrom } from '@troupe/core/internal'
import { type Capsule, type CapsuleFailure, checkCapsule, codeUnknown, decodeValue } from '@troupe/observer/capsule'
import { createTestKit, type LogLine } from '../test-kit.ts'
import { StandIns } from './stand-ins.ts'

/** What is replayed: a behavior, a function that makes one of the arguments in the capsule, such as a definition of `defineActor`, or a class. */
export type Replayable = Behavior<never> | ((...args: never) => Behavior<never>) | ActorClass<ActorHooks, never>

/** What came of it. */
export interface Replayed {
  /** The same failure, another one, or none. */
  readonly outcome: 'same' | 'another' | 'none'
  /** What it failed with this time; undefined where it did not. */
  readonly failure: unknown
  /** How many messages it was given until then, of how many. */
  readonly given: number
  readonly messages: number
  /** What was not in the capsule, and what was asked for that was not. Empty where the replay is whole. */
  readonly missing: readonly string[]
  readonly logs: readonly LogLine[]
}

/**
 * Runs a capsule: `troupe capsule` wrote it, when an actor had failed.
 *
 * Guarantees: virtual time, seeded; what the actor read of `system.clock` in its handlers, and what it was answered, is what it was then. Does not throw what the actor fails
 * with. Fails: with `InvalidOption` where the capsule is none, or what is to be replayed neither a behavior nor what makes one, or a persistent actor: of those the journal is the record.
 *
 * @example
 * const { outcome, failure } = await replayCapsule(readCapsule(text), till)
 */
export async function replayCapsule(capsule: Capsule, actor: Replayable): Promise<Replayed> {
  const { path, entries, reads, failure: before, code, missing } = checkCapsule(capsule)
  const gate = new Gate()
  const kit = createTestKit({ middleware: [gate], supervision: 'stop', onEscalation: 'stop', deadlock: 'off' })
  const stands = new StandIns(
    kit,
    path,
    entries.filter(({ what }) => what === 'answer'),
  )
  const exhausted = told(kit.system.clock, reads)
  const { spawnable, options } = spawnableOf(
    actor,
    code.args.map((arg) => stands.decode(arg)),
  )
  const ref = kit.system.spawn(spawnable, { ...options, name: path.slice(path.lastIndexOf('/') + 1), supervision: 'stop' } as SpawnOptions)
  gate.of = ref
  stands.itIs(ref)
  const failed = (): { readonly cause: unknown } | undefined => kit.system.failures.list().find(({ actor: who }) => who === ref)
  let given = 0
  await kit.settle()
  const unfit = isJournalless(failed()?.cause) ? persistent(actor) : undefined
  if (unfit !== undefined) {
    await kit.system.shutdown({ deadline: 0 })
    throw unfit
  }
  let at = entries[0]?.at ?? 0
  for (const entry of entries) {
    if (failed() !== undefined) break
    await kit.advance(Math.max(0, entry.at - at))
    at = Math.max(at, entry.at)
    if (entry.what === 'message') {
      const message = stands.decode(entry.value)
      gate.expect(message)
      given++
      ;(ref as { tell(message: unknown, options?: object): void }).tell(
        message,
        entry.sender === undefined ? {} : { sender: stands.refOf(entry.sender) },
      )
    } else if (entry.what === 'signal' && entry.type === 'Terminated') stands.end(pathIn(entry.value))
    await kit.settle()
  }
  // A last question may have timed out after the last that happened.
  if (failed() === undefined) await kit.advance(Math.max(0, before.at - at))
  const found = failed()
  const logs = [...kit.logs]
  const closing = kit.system.shutdown({ deadline: 1000 })
  await kit.advance(10_000)
  await closing
  const failure = found === undefined ? undefined : rootOf(found.cause)
  return {
    outcome: found === undefined ? 'none' : isSame(failure, before) ? 'same' : 'another',
    failure,
    given,
    messages: entries.filter(({ what }) => what === 'message').length,
    missing: [
      ...missing.filter((one) => one !== codeUnknown),
      ...[...stands.unanswered].map((who) => `an answer of ${who}, which it did not ask then`),
      ...(exhausted.size === 0 ? [] : ['what the clock told it after the failure']),
    ],
    logs,
  }
}

/** Lets through what comes from the capsule, and nothing else that the actor is told. */
class Gate implements Middleware {
  of: AnyRef | undefined
  readonly #expected: unknown[] = []
  expect(message: unknown): void {
    this.#expected.push(message)
  }
  before(message: unknown, { ref }: { readonly ref: AnyRef }): unknown {
    if (ref !== this.of) return message
    const at = this.#expected.findIndex((one) => Object.is(one, message))
    if (at < 0) return swallow
    this.#expected.splice(at, 1)
    return message
  }
}

/** Of a signal that names an actor: its path. */
function pathIn(encoded: unknown): string {
  let path = ''
  decodeValue(encoded, (found) => (path ||= found))
  return path
}

/** The clock tells what it told then, as long as that lasts; returns what it ran out of. */
function told(clock: Clock, reads: Capsule['reads']): ReadonlySet<string> {
  const exhausted = new Set<string>()
  for (const what of ['now', 'random'] as const) {
    const own = clock[what].bind(clock)
    let next = 0
    Object.defineProperty(clock, what, {
      value: () => {
        const value = reads[what][next++]
        if (value === undefined && reads[what].length > 0) exhausted.add(what)
        return value ?? own()
      },
    })
  }
  return exhausted
}

function spawnableOf(actor: unknown, args: readonly unknown[]): { readonly spawnable: Behavior<never>; readonly options: object } {
  if (typeof actor !== 'function') return { spawnable: actor as Behavior<never>, options: {} }
  // What eventSourced and durableState give, or a class of theirs; a behavior of theirs is known by its start.
  const { kind, persistence } = actor as { readonly kind?: unknown; readonly persistence?: { readonly kind?: unknown } }
  if (typeof (behaviorFrom in actor ? persistence?.kind : kind) === 'string') throw persistent(actor)
  try {
    if (behaviorFrom in actor) return { spawnable: actor as never, options: { args } }
    return { spawnable: (actor as (...given: readonly unknown[]) => Behavior<never>)(...args), options: {} }
  } catch (cause) {
    throw new InvalidOption('actor', actor, 'it throws when it is called with the arguments in the capsule', cause)
  }
}

/** What it is at the time of its failure comes from its journal, of which the capsule has nothing. */
function persistent(actor: unknown): InvalidOption {
  return new InvalidOption(
    'actor',
    actor,
    'it is persistent, and a capsule has nothing of its journal, which is its record: look at that by troupe journal show, and try the command by run of @troupe/persistence/testing',
  )
}
function isJournalless(cause: unknown): boolean {
  const { code, message } = (rootOf(cause) ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return code === 'not-allowed' && typeof message === 'string' && message.includes('its system has no journal')
}

/** A start that failed is told as such, around what it failed with. */
function rootOf(cause: unknown): unknown {
  const { code, cause: below } = (cause ?? {}) as { readonly code?: unknown; readonly cause?: unknown }
  return code === 'actor-initialization' && below !== undefined ? rootOf(below) : cause
}

function isSame(failure: unknown, before: CapsuleFailure): boolean {
  if (!(failure instanceof Error)) return before.name === 'thrown' && (JSON.stringify(failure) ?? 'undefined') === before.message
  // What Troupe itself says has paths and times in it.
  return failure.name === before.name && (failure.message === before.message || failure instanceof TroupeError)
}
