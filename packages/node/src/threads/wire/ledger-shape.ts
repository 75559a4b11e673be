// The counters of a ledger, as they are shown to other threads.

export interface LedgerCounts {
  sent: number
  handled: number
  failed: number
  unhandled: number
  dropped: number
  deadLettered: number
  unknown: number
}
