// Which events somebody wants: a class, a `type` tag, or a predicate.

import { unreadable } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { EventSelector } from '../values/event-stream.ts'

/** Whether an event is one of those. */
export function matcherOf(selector: EventSelector<unknown>): (event: object) => boolean {
  if (typeof selector === 'string') return (event) => (event as { type?: unknown }).type === selector
  if (typeof selector !== 'function') throw new InvalidOption('selector', selector, 'use a class, a type tag or a predicate')
  // Only classes have a prototype with a fixed `writable: false` descriptor; arrow functions have none at all.
  let prototype: PropertyDescriptor | undefined
  try {
    prototype = Object.getOwnPropertyDescriptor(selector, 'prototype')
  } catch (cause) {
    throw unreadable('selector', selector, cause)
  }
  if (prototype?.writable === false) return (event) => event instanceof (selector as abstract new () => object)
  return selector as (event: object) => boolean
}
