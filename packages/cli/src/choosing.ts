// Which system is meant: the only one there is, or the one that was named. And whether it answers: one that hangs lets others connect all the same.

import { type Attached, attach, type Descriptor, type Hello, listSystems } from '@troupe/observer'
import { Exit, exitCodes } from './exit.ts'
import { clean } from './style.ts'

/** Milliseconds that a system may take for its first word. */
const patience = 5000

/** By the name of the system or the number of its process; without either, the only one. */
export function choose(wanted: string | undefined, systems: readonly Descriptor[] = listSystems()): Descriptor {
  const found = wanted === undefined ? systems : systems.filter(({ system, pid, id }) => [system, String(pid), `${pid}-${id}`].includes(wanted))
  const [first] = found
  if (first !== undefined && found.length === 1) return first
  if (first === undefined && systems.length === 0)
    throw new Exit(
      exitCodes.unreachable,
      'No system is running that can be looked at. Start one with troupe run, or call observe(system) of @troupe/observer in yours.',
    )
  const names = (first === undefined ? systems : found).map(({ system, pid, id }) => `${clean(system)} (${nameOf(pid, id, systems)})`).join(', ')
  if (first === undefined) throw new Exit(exitCodes.unreachable, `There is no system ${clean(wanted!)}; there are ${names}.`)
  throw new Exit(exitCodes.usage, `There are several: ${names}. Say which by --system, with its name or the number behind it.`)
}

/** What tells it from all others: the process, and the number of the system where a process has several. */
function nameOf(pid: number, id: number, systems: readonly Descriptor[]): string {
  return systems.filter((one) => one.pid === pid).length > 1 ? `${pid}-${id}` : String(pid)
}

export async function attachTo(wanted: string | undefined, within: number = patience): Promise<Attached> {
  const descriptor = choose(wanted)
  let attached: Attached
  try {
    attached = await attach(descriptor)
  } catch (cause) {
    throw new Exit(exitCodes.unreachable, clean((cause as Error).message))
  }
  if ((await greeted(attached, within)) !== undefined) return attached
  attached.close()
  const { system, pid } = descriptor
  throw new Exit(
    exitCodes.unreachable,
    `System ${clean(system)} of process ${pid} takes connections but does not answer: something holds its thread, or the process is halted. A profiler or a debugger shows where it is.`,
  )
}

/** Its first word; undefined where it has none in time. */
export async function greeted(attached: Attached, within: number): Promise<Hello | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), within)))
  const hello = await Promise.race([attached.ask('hello').catch(() => undefined), late])
  clearTimeout(timer)
  return hello
}
