// What counts as a ref when it crosses the border.

import { Adapter, LocalRef, PendingAsk } from 'troupe/internal'
import { AddressRef } from './address-ref.ts'

export function isRef(value: object): boolean {
  return value instanceof LocalRef || value instanceof PendingAsk || value instanceof Adapter || value instanceof AddressRef
}
