// The choice of what lies between threads, by the main one, and what others make of what they were given. The only place that
// knows of both.

import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Line, LineEnd } from '@troupe/border'
import type { BerthParts, LineParts, Medium, OwnBerth, Way, Wiring } from './medium.ts'
import { portBerth, PortLine, PortMedium } from './port-medium.ts'
import { PortSide } from './port-side.ts'
import { sharedBerth, SharedLine, SharedMedium } from './shared-medium.ts'

export function hostShares(): boolean {
  return typeof SharedArrayBuffer !== 'undefined'
}

/** `bytes` may be under way in each direction between two threads. */
export function mediumOf(shared: boolean, bytes: number): Medium {
  return shared ? new SharedMedium(bytes) : new PortMedium(bytes)
}

/** What a way is opened with. */
export function endOf({ line, cargo }: Wiring): LineEnd {
  return { line: lineOf(line), side: new PortSide(cargo) }
}
function lineOf(parts: LineParts): Line {
  if (parts.kind === 'given') return parts.line
  return parts.kind === 'shared' ? new SharedLine(parts) : new PortLine(parts)
}
export function berthOf(parts: BerthParts): OwnBerth {
  if (parts.kind === 'given') return parts.berth
  return parts.kind === 'shared' ? sharedBerth(parts) : portBerth(parts)
}

/** Both ends of a way between two threads. */
export function wire(medium: Medium, a: number, b: number): { readonly atA: Wiring; readonly atB: Wiring; readonly way: Way } {
  const way = medium.way(a, b)
  const cargo = new MessageChannel()
  return { atA: { peer: b, line: way.atA, cargo: cargo.port1 }, atB: { peer: a, line: way.atB, cargo: cargo.port2 }, way }
}

/** What must be moved, not copied, when it is given to a thread. */
export function portsOf({ line, cargo }: Wiring): MessagePort[] {
  if (line.kind === 'given') return [cargo]
  return line.kind === 'shared' ? [cargo, line.wake] : [cargo, line.out, line.in]
}
export function portsOfBerth(parts: BerthParts): MessagePort[] {
  return parts.kind === 'ports' ? [parts.board] : []
}
