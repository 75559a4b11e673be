// The options of persistence in one system, checked and with their defaults, as the hub uses them.

import type { AnyRef } from '@troupe/core'
import type { JournalSource } from '../journal/port.ts'
import type { Hub } from './hub.ts'

/** How persistence is set up in one system. */
export interface HubOptions {
  readonly journal: JournalSource
  readonly scope: string
  readonly whenAway: 'reject' | 'wait'
  readonly timeout: number
  readonly permits: number
  readonly find: ((kind: string, key: string) => AnyRef | undefined) | undefined
  readonly redeliverEvery: number
  readonly immutableCheck: boolean | undefined
  /** The longest text of an event. */
  readonly maxEventBytes: number
  /** For actors of one part of a journal that others own other parts of: of whom, in which epoch, and who is told that it is over. */
  readonly tenancy?: { readonly of: Hub; readonly epoch: number; readonly onLost: () => void } | undefined
}
