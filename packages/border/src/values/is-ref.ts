// What counts as a ref when it crosses the border: what it is, never what it looks like. A ref of an actor is the one that its
// cell knows; the others are known by what only their class can give them.

import { Adapter, LocalRef, PendingAsk } from '@troupe/core/internal'
import { AddressRef } from './address-ref.ts'

export function isActorRef(value: object): value is LocalRef {
  return value instanceof LocalRef && value.cell?.ref === value
}

export function isRef(value: object): boolean {
  return isActorRef(value) || value instanceof PendingAsk || value instanceof Adapter || AddressRef.is(value)
}
