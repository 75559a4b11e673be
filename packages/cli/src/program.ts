// The command `troupe`: what it takes, and which part does it.

import { Command, InvalidArgumentError, Option } from 'commander'
import { attachTo } from './choosing.ts'
import { doctor } from './commands/doctor.ts'
import { inspect } from './commands/inspect.ts'
import { dead, events, waits } from './commands/lists.ts'
import { ls } from './commands/ls.ts'
import { type Keys, type SortedBy, sorts, top } from './commands/top.ts'
import { tree } from './commands/tree.ts'
import { Exit, exitCodes } from './exit.ts'
import type { Screen } from './style.ts'

/** What the command has of its process. */
export interface Surroundings {
  readonly screen: Screen
  readonly keys: Keys | undefined
  /** Where mistakes are told. */
  complain(text: string): void
  readonly version: string
}

interface Common {
  readonly json?: boolean
  readonly system?: string
}

function whole(least: number): (value: string) => number {
  return (value) => {
    const n = Number(value)
    if (!Number.isSafeInteger(n) || n < least) throw new InvalidArgumentError(`Use a whole number from ${least} on.`)
    return n
  }
}
/** 500ms, 10s, 2m; a bare number is seconds. */
function span(value: string): number {
  const [, n, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? []
  if (n === undefined) throw new InvalidArgumentError('Use a time such as 500ms, 10s or 2m.')
  return Number(n) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm']
}

/**
 * Runs the command with these arguments; resolves with its exit code.
 *
 * Guarantees: never rejects for what the arguments are; mistakes go to `complain`.
 *
 * @example
 * process.exitCode = await runCommand(process.argv.slice(2), surroundings)
 */
export async function runCommand(argv: readonly string[], around: Surroundings): Promise<number> {
  const { screen } = around
  let code: number = exitCodes.fine
  const program = new Command('troupe')
    .description('Looks at running systems of Troupe actors.')
    .version(around.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => screen.write(text), writeErr: (text) => around.complain(text.trimEnd()) })
    .addHelpText('after', '\nExit codes: 0 fine, 1 something needs attention or is not there, 2 called wrongly, 3 no system to look at.')
  const command = (name: string, about: string): Command =>
    program
      .command(name)
      .description(about)
      .option('--json', 'one JSON value a line, for programs')
      .option('-s, --system <name>', 'which system: its name, or the number of its process; the only one if left out')
  program
    .command('ls')
    .description('the systems that can be looked at')
    .option('--json', 'one JSON value a line, for programs')
    .action((options: Common) => ls(screen, { json: options.json === true }))
  command('top', 'the actors in most trouble, or the busiest, once a second')
    .addOption(new Option('--by <what>', 'what comes first').choices([...sorts]).default('trouble'))
    .option('-n, --count <times>', 'so many pictures; piped, one', whole(1))
    .action(async (options: Common & { readonly by: SortedBy; readonly count?: number }) => {
      await top(await attachTo(options.system), screen, { json: options.json === true, by: options.by, count: options.count }, around.keys)
    })
  command('doctor', 'what needs attention, in sentences; exit code 1 if something will not get better by itself')
    .option('--for <time>', 'how long to look', span, 8000)
    .action(async (options: Common & { readonly for: number }) => {
      const attached = await attachTo(options.system)
      code = await doctor(attached, screen, { json: options.json === true, for: options.for })
      attached.close()
    })
  command('tree', 'the tree of actors, many siblings folded')
    .argument('[path]', 'where to begin', '/user')
    .option('-d, --depth <levels>', 'how deep', whole(0), 4)
    .option('-m, --most <children>', 'how many of each', whole(1), 10)
    .action(async (path: string, options: Common & { readonly depth: number; readonly most: number }) => {
      await tree(await attachTo(options.system), screen, path, { json: options.json === true, depth: options.depth, most: options.most })
    })
  command('inspect', 'all that is known of one actor')
    .argument('<path>', 'such as /user/cart')
    .action(async (path: string, options: Common) => inspect(await attachTo(options.system), screen, path, { json: options.json === true }))
  command('waits', 'who waits for whose answer').action(async (options: Common) =>
    waits(await attachTo(options.system), screen, { json: options.json === true }),
  )
  command('dead', 'the last messages that reached nobody')
    .option('-l, --limit <letters>', 'how many', whole(1), 20)
    .action(async (options: Common & { readonly limit: number }) =>
      dead(await attachTo(options.system), screen, { json: options.json === true, limit: options.limit }),
    )
  command('events', 'failures, dead letters, slow turns and the like, as they happen')
    .option('-n, --count <events>', 'so many, then end', whole(1))
    .action(async (options: Common & { readonly count?: number }) =>
      events(await attachTo(options.system), screen, { json: options.json === true, count: options.count }),
    )
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (cause) {
    if (cause instanceof Exit) {
      around.complain(cause.message)
      return cause.status
    }
    const { code: why, exitCode, message } = cause as { code?: string; exitCode?: number; message: string }
    if (why?.startsWith('commander.') === true) return exitCode === 0 ? exitCodes.fine : exitCodes.usage
    around.complain(message)
    return exitCodes.unreachable
  }
}
