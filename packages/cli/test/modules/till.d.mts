import type { ActorRef, ActorSystem, Behavior } from '@troupe/core'

// What they take is not said: they are code of somebody who writes JavaScript.
type Made = (...args: readonly unknown[]) => Behavior<unknown>

export const till: Made
export const mended: Made
export const child: (name: string) => Behavior<{ type: 'where'; replyTo: ActorRef<string> } | { type: 'child'; what: string }>
export function redact(value: unknown, type: string): unknown
export default function shop(system: ActorSystem): void
