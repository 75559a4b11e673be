// The dispatchers of one system, by name. The default one is never absent.

import { Dispatcher, type DispatcherSettings, type DispatcherState } from '../cell/turn/dispatcher.ts'
import type { CellHost } from '../cell/turn/host.ts'
import type { Spawner } from '../cell/context/remote-spawner.ts'
import { checkText } from '../values/checks.ts'
import { SystemClosed, UnknownDispatcher } from '../values/errors.ts'
import type { DispatcherOptions } from '../values/options.ts'
import { checkDispatcher } from './options.ts'

/** What `system.dispatchers` offers. */
export interface Dispatchers {
  readonly names: readonly string[]
  /** Adds a dispatcher for one subsystem, so that its load and settings are its own. Fails with `SystemClosed` once the system closes. */
  add(name: string, options?: DispatcherOptions): void
  /** Takes no new actors; stops once the last has gone. */
  close(name: string): void
  stateOf(name: string): DispatcherState
}

export const defaultName = 'concurrent'

export class DispatcherTable implements Dispatchers {
  readonly #host: CellHost
  readonly #table = new Map<string, Dispatcher>()
  declare readonly fallback: Dispatcher
  constructor(host: CellHost, options: DispatcherOptions | undefined, others: Readonly<Record<string, DispatcherOptions>> | undefined) {
    this.#host = host
    this.fallback = new Dispatcher(defaultName, host, settingsOf(options, 'dispatcher', host))
    this.#table.set(defaultName, this.fallback)
    for (const [name, given] of Object.entries(others ?? {})) this.add(name, given)
  }
  get names(): readonly string[] {
    return [...this.#table.keys()]
  }
  get all(): Iterable<Dispatcher> {
    return this.#table.values()
  }
  add(name: string, options?: DispatcherOptions): void {
    checkText('dispatcher name', name)
    if (this.#host.phase !== 'open') throw new SystemClosed(this.#host.name, `add dispatcher "${name}"`)
    const present = this.#table.get(name)
    if (present !== undefined && present.state !== 'stopped') throw new UnknownDispatcher(name, 'there is a dispatcher of that name. Close it first')
    this.#table.set(name, new Dispatcher(name, this.#host, settingsOf(options, `dispatchers.${name}`, this.#host)))
  }
  close(name: string): void {
    if (name === defaultName) throw new UnknownDispatcher(name, 'the default dispatcher ends with its system only')
    this.#get(name).close()
  }
  stateOf(name: string): DispatcherState {
    return this.#get(name).state
  }
  /** The system has ended: nobody has a turn any more. */
  end(): void {
    for (const dispatcher of this.#table.values()) dispatcher.state = 'stopped'
  }
  /** A dispatcher whose actors run elsewhere, made by `spawner`. */
  addRemote(name: string, spawner: Spawner): Dispatcher {
    this.add(name)
    const dispatcher = this.#get(name)
    dispatcher.spawner = spawner
    return dispatcher
  }
  /** The dispatcher for a new actor. */
  use(name: string): Dispatcher {
    const dispatcher = this.#get(name)
    if (dispatcher.state !== 'running') throw new UnknownDispatcher(name, `it is ${dispatcher.state} and takes no new actors`)
    return dispatcher
  }
  #get(name: string): Dispatcher {
    checkText('dispatcher', name)
    const dispatcher = this.#table.get(name)
    if (dispatcher !== undefined) return dispatcher
    const threads = name === 'parallel' || name === 'pinned' ? '; threads come with @troupe/node' : ''
    throw new UnknownDispatcher(name, `there is no dispatcher of that name; there are ${this.names.join(', ')}${threads}`)
  }
}

/** As good as no limit of turns. */
const endless = 2 ** 30
/** Where somebody pumps, the clock may stand still, and then no slice would end; so whoever pumps gets a word in. */
const pumped = 2 ** 10

function settingsOf(options: DispatcherOptions = {}, where: string, host: CellHost): DispatcherSettings {
  const { throughput = 1024, slice = 5, maxTurns = host.runtime.pump === undefined ? endless : pumped } = checkDispatcher(where, options)
  return { throughput, slice, maxTurns }
}
