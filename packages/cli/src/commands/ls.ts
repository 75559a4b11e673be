// The systems that can be looked at.

import { attach, type Descriptor, listSystems } from '@troupe/observer'
import { greeted } from '../choosing.ts'
import { clean, count, duration, jsonLine, type Screen, Style, table } from '../style.ts'

export async function ls(screen: Screen, { json }: { readonly json: boolean }): Promise<void> {
  const systems = await Promise.all(listSystems().map(lookAt))
  if (json) return screen.write(jsonLine(systems))
  if (systems.length === 0)
    return screen.write(
      'No system is running that can be looked at. Start one with troupe run, or call observe(system) of @troupe/observer in yours.\n',
    )
  const style = new Style(screen.colours)
  const now = Date.now()
  const rows = systems.map(({ system, pid, actors, handled, since, program, reachable }) => [
    style.bold(clean(system)),
    String(pid),
    actors === undefined ? '' : count(actors),
    handled === undefined ? '' : count(handled),
    duration(Math.max(0, now - Date.parse(since))),
    reachable ? clean(program) : style.red('does not answer'),
  ])
  screen.write(`${table(['system', 'process', 'actors', 'handled', 'since', 'program'], rows, new Set([1, 2, 3, 4]), style).join('\n')}\n`)
}

/** Milliseconds for a word of each. */
const patience = 2000

interface Listed extends Descriptor {
  readonly reachable: boolean
  readonly actors: number | undefined
  readonly handled: number | undefined
}

async function lookAt(descriptor: Descriptor): Promise<Listed> {
  try {
    const attached = await attach(descriptor)
    const hello = await greeted(attached, patience)
    attached.close()
    return { ...descriptor, reachable: hello !== undefined, actors: hello?.metrics.active, handled: hello?.metrics.messages.handled }
  } catch {
    return { ...descriptor, reachable: false, actors: undefined, handled: undefined }
  }
}
