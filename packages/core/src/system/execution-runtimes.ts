// A registry of execution runtimes, for programs that make several systems. It belongs to whoever made it: nothing is
// registered globally. One of its runtimes is the default, and that one cannot be taken out.

import { checkFunction, checkText } from '../values/checks.ts'
import { InvalidOption, NotAllowed } from '../values/errors.ts'
import type { ExecutionRuntime, RuntimeSource } from '../values/runtime.ts'
import { builtIn, checkThere, makeRuntime } from './runtimes.ts'

/**
 * Execution runtimes by name; `host`, the default, and `manual` are there from the beginning.
 *
 * Guarantees: what `default` names is always there; each runtime made is checked, and serves one system; whoever has one keeps it
 * when its name is unregistered. Fails: with `InvalidOption` for what makes no runtime, a name in use or an unknown one, with
 * `NotAllowed` when the default is to be taken out.
 *
 * @example
 * const runtimes = new ExecutionRuntimes()
 * runtimes.register('game', () => new ManualRuntime({ now: () => frameTime }))
 * const system = ActorSystem.create('world', { runtimes, runtime: 'game' })
 */
export class ExecutionRuntimes implements RuntimeSource {
  readonly #table: Record<string, () => ExecutionRuntime> = { ...builtIn }
  #default = 'host'

  /** In the order in which they were registered. */
  get names(): readonly string[] {
    return Object.keys(this.#table)
  }
  /** What a system gets that names none. */
  get default(): string {
    return this.#default
  }
  set default(name: string) {
    this.#default = checkThere(this.#table, name)
  }
  /** Takes a runtime on; it is made when a system wants it. */
  register(name: string, make: () => ExecutionRuntime): void {
    checkText('name', name)
    if (Object.hasOwn(this.#table, name)) throw new InvalidOption('name', name, 'there is a runtime of that name. Unregister it first')
    checkFunction(`runtimes.${name}`, make)
    this.#table[name] = make
  }
  /** Forgets a runtime; systems that run on it go on. */
  unregister(name: string): void {
    checkThere(this.#table, name)
    if (name === this.#default) throw new NotAllowed(`Runtime ${name} is the default. Make another one the default first.`)
    delete this.#table[name]
  }
  create(name?: string): ExecutionRuntime {
    return makeRuntime(this.#table, name ?? this.#default)
  }
}
