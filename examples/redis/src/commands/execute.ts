// The table of commands that need only a store, and how one is run. Used by the keyspace actor and by the plain server,
// so that the benchmark compares actors and nothing else.

import { CommandError, type Replies } from '../replies.ts'
import type { Store } from '../store.ts'
import { collections } from './collections.ts'
import { type Command, command } from './command.ts'
import { keys } from './keys.ts'
import { strings } from './strings.ts'

function ping(_store: Store, args: readonly string[], out: Replies): void {
  if (args.length > 2) throw new CommandError("ERR wrong number of arguments for 'ping' command")
  if (args.length === 1) out.text += '+PONG\r\n'
  else out.bulk(args[1])
}

const stateless: readonly Command[] = [command('PING', -1, ping, true), command('ECHO', 2, (_store, args, out) => out.bulk(args[1]), true)]

export const table: ReadonlyMap<string, Command> = new Map(
  [...stateless, ...strings, ...collections, ...keys].flatMap((c) => [
    [c.name, c],
    [c.name.toLowerCase(), c],
  ]),
)

/** The command of that name in any case; only the odd spelling pays for it. */
export function find(name: string): Command | undefined {
  return table.get(name) ?? table.get(name.toUpperCase())
}

/** Whether the number of words fits. */
export function fits(arity: number, words: number): boolean {
  return arity < 0 ? words >= -arity : words === arity
}

export function wrongArity(name: string): string {
  return `ERR wrong number of arguments for '${name.toLowerCase()}' command`
}

/** What a peer wrote, as part of an error: short, and within its line. */
export function shown(text: string): string {
  return text.slice(0, 128).replaceAll(/[\r\n]/g, ' ')
}

export function unknown(args: readonly string[]): string {
  const rest = args.slice(1, 6).map((a) => `'${shown(a)}'`)
  return `ERR unknown command '${shown(args[0]!)}', with args beginning with: ${rest.join(' ')}`
}

/** Runs one command, found or not; what is wrong with it is its reply. */
export function execute(store: Store, args: readonly string[], out: Replies): void {
  const found = find(args[0]!)
  if (found === undefined) out.error(unknown(args))
  else run(found, store, args, out)
}

export function run(found: Command, store: Store, args: readonly string[], out: Replies): void {
  if (!fits(found.arity, args.length)) return out.error(wrongArity(args[0]!))
  const before = out.text
  try {
    found.run(store, args, out)
  } catch (cause) {
    out.text = before
    if (!(cause instanceof CommandError)) throw cause
    out.error(cause.message)
  }
}
