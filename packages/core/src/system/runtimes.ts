// Execution runtimes by name. Built in are `host` and `manual`; a system may bring others, or replace these.

import { HostRuntime } from '../ports/host.ts'
import { ManualRuntime } from '../ports/manual.ts'
import { can } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { SystemOptions } from '../values/options.ts'
import type { ExecutionRuntime } from '../values/runtime.ts'

export function runtimeOf(options: SystemOptions): ExecutionRuntime {
  const { runtime = 'host' } = options
  if (typeof runtime !== 'string') {
    if (can(runtime, 'wake', 'now')) return runtime
    throw new InvalidOption('runtime', runtime, 'use a name or an execution runtime')
  }
  const given = options.runtimes !== undefined && Object.hasOwn(options.runtimes, runtime) ? options.runtimes[runtime] : undefined
  if (given !== undefined) return given()
  if (runtime === 'host') return new HostRuntime()
  if (runtime === 'manual') return new ManualRuntime()
  const names = ['host', 'manual', ...Object.keys(options.runtimes ?? {})]
  throw new InvalidOption('runtime', runtime, `there is none of that name; there are ${names.join(', ')}`)
}
