// A kind of sharded actors as it was registered, checked once.

import { type Behavior, InvalidOption, type MessageSchema } from '@troupe/core'
import { checkBoolean, checkCan, checkFinite, checkFunction, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import { checkPlainName } from '../values/session.ts'

/** How the actors of a kind are spread over the nodes, made and put to sleep. */
export interface ShardedOptions<M> {
  /** A Standard Schema for messages, recommended on every kind; what does not fit is a dead letter `not-accepted`. */
  readonly accepts?: MessageSchema | undefined
  /** Milliseconds without a message after which an actor ends, to be made again by the next one; 120,000 if left out, `false` for never. */
  readonly passivateAfter?: number | false | undefined
  /** Into how many shards ids are divided; 128 if left out. The same on every node, and as long as the kind has an owner anywhere. */
  readonly shards?: number | undefined
  /** Only nodes with this role have actors of the kind; others send to them. All, if left out. */
  readonly role?: string | undefined
  /**
   * Whether the actors keep events or state in the journal of `persistence(…)`. Then the journal's fence is raised for a shard before any of its
   * actors recovers, and all nodes must have the same journal.
   */
  readonly persistent?: boolean | undefined
  /** The version of the messages; 1 if left out. Raise it when their shape changes, and say by `upcast` what became of older ones. */
  readonly version?: number | undefined
  /** What a message of an earlier version is now; undefined makes it a dead letter `not-accepted`. */
  readonly upcast?: ((message: unknown, version: number) => M | undefined) | undefined
  /** Milliseconds that one actor may take to stop when its shard moves; that of the system's default if left out. */
  readonly stopTimeout?: number | undefined
  /**
   * How many shards a node hands over at a time, when it leaves and when another one joins; 64 if left out. More are quicker; fewer keep more of the
   * actors at work meanwhile, and stop and start fewer of them at once.
   */
  readonly concurrentHandOvers?: number | undefined
}

/** A kind with what was left out. */
export interface KindSpec {
  readonly kind: string
  readonly make: (id: string) => Behavior<never>
  readonly accepts: MessageSchema | undefined
  readonly passivateAfter: number | undefined
  readonly shards: number
  readonly role: string | undefined
  readonly persistent: boolean
  readonly version: number
  readonly upcast: ((message: unknown, version: number) => unknown) | undefined
  readonly stopTimeout: number | undefined
  readonly concurrentHandOvers: number
  /** Ids that are started as soon as their shard is. */
  readonly eager: readonly string[]
}

const mostShards = 65_536

const table: Table<ShardedOptions<unknown>> = {
  accepts: (option, value) => {
    checkCan(option, (value as Partial<MessageSchema> | null)?.['~standard'], ['a Standard Schema, such as one of zod or valibot', 'validate'])
    return value
  },
  passivateAfter: (option, value) => (value === false ? value : checkFinite(option, value, 'above')),
  shards: (option, value) => {
    const shards = checkWhole(option, value, 1)
    if (shards > mostShards) throw new InvalidOption(option, value, `use at most ${mostShards}`)
    return shards
  },
  role: checkPlainName,
  persistent: checkBoolean,
  version: [checkWhole, 1],
  upcast: checkFunction,
  stopTimeout: [checkFinite, 'from'],
  concurrentHandOvers: [checkWhole, 1],
}

export function checkKind(kind: unknown, make: unknown, options: unknown): KindSpec {
  checkPlainName('kind', kind)
  checkFunction('make', make)
  const read = readOptions('sharded', (options ?? {}) as ShardedOptions<unknown>, table)
  const { passivateAfter = 120_000, shards = 128, persistent = false, version = 1 } = read
  return {
    kind: kind as string,
    make: make as KindSpec['make'],
    accepts: read.accepts,
    passivateAfter: passivateAfter === false ? undefined : passivateAfter,
    shards,
    role: read.role,
    persistent,
    version,
    upcast: read.upcast,
    stopTimeout: read.stopTimeout,
    concurrentHandOvers: read.concurrentHandOvers ?? 64,
    eager: [],
  }
}

/** An id that can stand in a ref and in a journal. */
export function checkId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && id.length <= 400) return id
  throw new InvalidOption('id', id, 'use a text of 1 to 400 characters')
}
