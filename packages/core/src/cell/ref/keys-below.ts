// What an actor calls its children that have no names, where it keeps that anyway: read when somebody looks, so that a child takes nothing for it.

import type { AnyRef } from '../../values/ref.ts'
import type { LocalRef } from './local-ref.ts'

const keysBelow = new WeakMap<AnyRef, ReadonlyMap<AnyRef, string>>()

/** From now on, until it does so again; the map is not copied. */
export function callsItsChildren(parent: AnyRef, keys: ReadonlyMap<AnyRef, string>): void {
  keysBelow.set(parent, keys)
}

/** Undefined where nobody calls it anything but by its path. */
export function keyOfChild(child: LocalRef): string | undefined {
  return child.parent === undefined ? undefined : keysBelow.get(child.parent)?.get(child)
}
