// Which system is meant: the only one there is, or the one that was named.

import { type Attached, attach, type Descriptor, listSystems } from '@troupe/observer'
import { Exit, exitCodes } from './exit.ts'

/** By the name of the system or the number of its process; without either, the only one. */
export function choose(wanted: string | undefined, systems: readonly Descriptor[] = listSystems()): Descriptor {
  const found = wanted === undefined ? systems : systems.filter(({ system, pid, id }) => [system, String(pid), `${pid}-${id}`].includes(wanted))
  const [first] = found
  if (first !== undefined && found.length === 1) return first
  const names = systems.map(({ system, pid }) => `${system} (${pid})`).join(', ')
  if (systems.length === 0)
    throw new Exit(exitCodes.unreachable, 'No system is running that can be looked at. Call observe(system) of @troupe/observer in yours.')
  if (first === undefined) throw new Exit(exitCodes.unreachable, `There is no system ${wanted}; there are ${names}.`)
  throw new Exit(exitCodes.usage, `There are several: ${names}. Say which by --system, with its name or the number of its process.`)
}

export async function attachTo(wanted: string | undefined): Promise<Attached> {
  const descriptor = choose(wanted)
  try {
    return await attach(descriptor)
  } catch (cause) {
    throw new Exit(exitCodes.unreachable, (cause as Error).message)
  }
}
