// What a node joins with, checked once.

import { InvalidOption } from '@troupe/core'
import { checkCan, checkFinite, checkList, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import type { Engine } from '../ports/engine.ts'
import { checkPlainName, isPlainName } from '../values/session.ts'

/** How a node joins. */
export interface JoinOptions {
  /** The cluster: nodes of the same engine and name meet. 1 to 64 letters, digits, `-` and `_`. */
  readonly name: string
  /** This node, alone under that name. The same characters. */
  readonly node: string
  /** What the cluster runs on: `nats(…)` or `memory()`. */
  readonly engine: Engine
  /** What this node is for; `sharded(…, { role })` keeps a kind to some nodes. */
  readonly roles?: readonly string[] | undefined
  /**
   * Milliseconds after which a node that is not heard of is gone; what suits the engine if left out. At least 1,000: all nodes of a cluster
   * must have the same.
   */
  readonly lease?: number | undefined
  /**
   * The most bytes that one message to another node may take as it is sent; 4,194,304 (4 MiB) if left out, from 1 MiB to 32 MiB. A larger one is a
   * dead letter `not-transferable`. All nodes of a cluster must have the same.
   */
  readonly maxMessageBytes?: number | undefined
  /**
   * Milliseconds for which this node may not reach its journal before it hands over its shards of persistent kinds to nodes that reach theirs; 15,000 if
   * left out, `false` for never. It gets shards again when the journal is back.
   */
  readonly journalTimeout?: number | false | undefined
}

const mib = 1_048_576
export const defaultMaxMessageBytes: number = 4 * mib
const defaultJournalTimeout = 15_000

const table: Table<JoinOptions> = {
  name: [checkPlainName, undefined, true],
  node: [checkPlainName, undefined, true],
  engine: [checkCan, ['an engine, such as nats() or memory()', 'connect'], true],
  roles: (option, value) => checkList(option, value, isPlainName, 'names of letters, digits, - and _'),
  lease: (option, value) => {
    const ms = checkFinite(option, value, 'above')
    if (ms < 1_000 || ms > 600_000) throw new InvalidOption(option, value, 'use 1,000 to 600,000 milliseconds')
    return ms
  },
  maxMessageBytes: (option, value) => {
    const bytes = checkWhole(option, value, mib)
    // What waits for a node is bounded by 63 MiB, and has to hold it.
    if (bytes > 32 * mib) throw new InvalidOption(option, value, `use ${mib} to ${32 * mib} bytes`)
    return bytes
  },
  journalTimeout: (option, value) => (value === false ? value : checkFinite(option, value, 'above')),
}

/** Milliseconds after which a node without its journal hands over; undefined for never. */
export function journalTimeoutOf({ journalTimeout = defaultJournalTimeout }: JoinOptions): number | undefined {
  return journalTimeout === false ? undefined : journalTimeout
}

export function checkJoin(options: unknown): JoinOptions {
  return readOptions('join', options as JoinOptions, table)
}
