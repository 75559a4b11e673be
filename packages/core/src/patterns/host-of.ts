// The inside of a system, for patterns that need its clock, timers or chance. Every system has its top actor.

import type { CellHost } from '../cell/turn/host.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import { InvalidOption } from '../values/errors.ts'
import type { AnyRef } from '../values/ref.ts'
import type { SystemView } from '../values/system.ts'

export function hostOf(system: SystemView): CellHost {
  try {
    const cell = cellOf(system.find('/user')!)
    if (cell !== undefined) return cell.host
  } catch {}
  throw new InvalidOption('system', system, 'use an ActorSystem, or ctx.system')
}

/** The host of a ref of this thread. */
export function hostOfRef(ref: AnyRef): CellHost {
  const cell = cellOf(ref)
  if (cell === undefined) throw new InvalidOption('ref', ref, 'use the ref of an actor of this system')
  return cell.host
}
