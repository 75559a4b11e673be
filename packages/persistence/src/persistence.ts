// How persistence joins a system.

import type { AnyRef, Extension } from '@troupe/core'
import {
  checkBoolean,
  checkCan,
  checkFinite,
  checkFunction,
  checkOneOf,
  checkPart,
  checkText,
  checkWhole,
  readOptions,
  type Table,
} from '@troupe/core/internal'
import { Hub } from './gate/hub.ts'
import type { HubOptions } from './gate/hub-options.ts'
import { extensionName } from './gate/shell.ts'
import type { JournalSource } from './journal/port.ts'

/** Options of `persistence`. */
export interface PersistenceOptions {
  /** Where events are kept: `memory()`, or another journal. */
  readonly journal: JournalSource
  /** What of the journal this system owns; the whole of it, `default`, if left out. Whoever opens a scope later takes it over. */
  readonly scope?: string | undefined
  /**
   * What to do while the journal refuses everything: `reject` (default) fails what is persisted, and after five groups in a row does so without trying,
   * for a while, and questions to an actor that cannot start because of the journal are rejected at once; `wait` holds it, and everything behind it, until the journal is back.
   */
  readonly whenAway?: 'reject' | 'wait' | undefined
  /**
   * Where the actor of a kind and a key is, for `ctx.deliver` and for timers of actors that sleep: its ref, or that of the `entities` that
   * has it; undefined where it cannot be told now, and it is tried again.
   */
  readonly find?: ((kind: string, key: string) => AnyRef | undefined) | undefined
  /** Milliseconds until what was delivered and not acknowledged is sent again; longer each time, up to thirty times as long, until something is. 1,000 if left out. */
  readonly redeliverEvery?: number | undefined
  /**
   * Refuses commands that change a state in place, themselves or by an event handler, with `NotAllowed`. It encodes the state before and after each
   * command. Left out, the simulator of the testkit does it, and nothing else.
   */
  readonly immutableCheck?: boolean | undefined
  /** An event whose text would have more bytes is refused with `EventTooLarge`, before it is encoded; 16 MiB if left out. */
  readonly maxEventBytes?: number | undefined
  /** How actors are read back when they start. */
  readonly recovery?:
    | {
        /** Milliseconds without any progress that end a recovery; 30,000 if left out. Waiting for a permit does not count. */
        readonly timeout?: number | undefined
        /** How many reads, of up to 256 actors each, may be under way; 4 if left out. */
        readonly permits?: number | undefined
      }
    | undefined
}

const table: Table<PersistenceOptions> = {
  journal: [checkCan, ['a journal, such as memory()', 'open'], true],
  scope: checkText,
  whenAway: [checkOneOf, ['reject', 'wait']],
  find: checkFunction,
  redeliverEvery: [checkFinite, 'above'],
  immutableCheck: checkBoolean,
  maxEventBytes: [checkWhole, 1],
  recovery: [checkPart, { timeout: [checkFinite, 'above'], permits: [checkWhole, 1] } satisfies Table<PersistenceOptions['recovery'] & object>],
}

/**
 * Gives a system a journal, and with it persistent actors.
 *
 * Guarantees: the journal is opened once, owned before it is read, and let go after the last actor has ended. Fails with `InvalidOption`;
 * that the journal cannot be opened is told to the actors that need it.
 *
 * @example
 * const system = ActorSystem.create('shop', { extensions: [persistence({ journal: memory() })] })
 */
export function persistence(options: PersistenceOptions): Extension {
  const {
    journal,
    scope = 'default',
    whenAway = 'reject',
    recovery = {},
    find,
    redeliverEvery = 1000,
    immutableCheck,
    maxEventBytes = 16 * 1024 * 1024,
  } = readOptions('persistence', options, table)
  const { timeout = 30_000, permits = 4 } = recovery
  const complete: HubOptions = { journal, scope, whenAway, timeout, permits, find, redeliverEvery, immutableCheck, maxEventBytes }
  return { name: extensionName, open: (system) => new Hub(system, complete) }
}
