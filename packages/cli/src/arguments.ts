// What options take, checked; commander says what is wrong with the option's name before it.

import { type Command, InvalidArgumentError } from 'commander'
import { type Address, addressIn } from './running/health.ts'

/** Those of every command that looks at a system. */
export interface Common {
  readonly json?: boolean
  readonly system?: string
}

export function withJson(command: Command): Command {
  return command.option('--json', 'one JSON value a line, for programs')
}

/** Which system, and how it is told. */
export function looking(command: Command): Command {
  return withJson(command).option('-s, --system <name>', 'which system: its name, or the number of its process; the only one if left out')
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): (value: string) => number {
  return (value) => {
    const n = /^\d+$/.test(value) ? Number(value) : NaN
    if (!(n >= least && n <= most))
      throw new InvalidArgumentError(
        most === Number.MAX_SAFE_INTEGER ? `Use a whole number from ${least} on.` : `Use a whole number from ${least} to ${most}.`,
      )
    return n
  }
}

/** 500ms, 10s, 2m; a bare number is seconds. */
export function span(value: string): number {
  const [, n, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? []
  if (n === undefined) throw new InvalidArgumentError('Use a time such as 500ms, 10s or 2m.')
  return Number(n) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm']
}

export function address(value: string): Address {
  const found = addressIn(value)
  if (found === undefined) throw new InvalidArgumentError('Use a port, or an address such as 0.0.0.0:8080.')
  return found
}
