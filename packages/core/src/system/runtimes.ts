// How a system finds its execution runtime: one that is given, or one made by name. Built in are `host` and `manual`; a
// system may bring others, or replace these. Whatever is given or made is checked before it is used.

import { HostRuntime } from '../ports/host.ts'
import { ManualRuntime } from '../ports/manual.ts'
import { checkFunction, checkMethods, checkObject, checkString, unreadable } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { SystemOptions } from '../values/options.ts'
import type { ExecutionRuntime, RuntimeSource } from '../values/runtime.ts'

export type RuntimeTable = Readonly<Record<string, () => ExecutionRuntime>>

export const builtIn: RuntimeTable = { host: () => new HostRuntime(), manual: () => new ManualRuntime() }

export function runtimeOf({ runtime, runtimes = {} }: SystemOptions): ExecutionRuntime {
  if (runtime !== undefined && typeof runtime !== 'string') return checkRuntime('runtime', runtime)
  // In a record it would be what makes a runtime.
  if (typeof checkSource(runtimes).default === 'string') return checkRuntime('runtimes.create()', (runtimes as RuntimeSource).create(runtime))
  return makeRuntime({ ...builtIn, ...(runtimes as RuntimeTable) }, runtime ?? 'host')
}

function checkSource(runtimes: RuntimeTable | RuntimeSource): RuntimeTable | RuntimeSource {
  try {
    checkObject('runtimes', runtimes)
    if (typeof runtimes.default !== 'string') for (const [name, make] of Object.entries(runtimes)) checkFunction(`runtimes.${name}`, make)
    else checkFunction('runtimes.create', runtimes['create'])
  } catch (cause) {
    throw unreadable('runtimes', runtimes, cause)
  }
  return runtimes
}

export function makeRuntime(table: RuntimeTable, name: string): ExecutionRuntime {
  return checkRuntime(`runtimes.${checkThere(table, name)}`, table[name]!())
}

export function checkThere(table: RuntimeTable, name: string): string {
  checkString('runtime', name)
  if (Object.hasOwn(table, name)) return name
  throw new InvalidOption('runtime', name, `there is no runtime of that name; there are ${Object.keys(table).join(', ')}`)
}

function checkRuntime(option: string, runtime: ExecutionRuntime | null): ExecutionRuntime {
  if (typeof runtime !== 'object' || runtime === null) throw new InvalidOption(option, runtime, 'use a name or an execution runtime')
  return checkMethods(option, runtime, ['now', 'random', 'wake', 'yield', 'timer', 'enter', 'hold'], ['start', 'stop', 'pump'])
}
