// Commands that run something of the user's.

import { Exit, exitCodes } from '../exit.ts'
import { address, span, whole } from '../arguments.ts'
import { run } from '../commands/run.ts'
import type { Address } from '../running/health.ts'
import type { Group } from './group.ts'

interface RunFlags {
  readonly name?: string
  readonly observe?: number | true
  readonly socket: boolean
  readonly threads?: number
  readonly health?: Address
  readonly deadline: number
  readonly drain?: number
}

export function addRunning({ program, around, end }: Group): void {
  program.commandsGroup('Run:')
  program
    .command('run')
    .description('runs the application that a module exports, until it ends or is told to')
    .argument('<module>', 'its default export: the root behavior, such as supervisor(…), or a function that is given the system')
    .option('--observe [port]', 'opens a page that shows the system, and says where', whole(0, 65_535))
    .option('--no-socket', 'does not let troupe top and the others attach')
    .option('--threads <n>', 'installs so many threads: the dispatchers parallel and pinned', whole(2, 1024))
    .option('--health <address>', 'serves /livez and /readyz there: a port, or host:port', address)
    .option('--name <name>', 'what the system is called; as its package is, if left out')
    .option('--deadline <time>', 'how long stopping may take before what is left is killed', span, 30_000)
    .option('--drain <time>', 'how long of that mailboxes may take to empty; half of it if left out', span)
    .addHelpText(
      'after',
      `
SIGINT or SIGTERM stops it in order, and it says what became of it: no longer ready, out of its cluster, mailboxes drained, actors stopped from the
top. Another one ends it at once. Ends with 0 in order; with 1 where the application failed or something had to be killed.`,
    )
    .action(async (module: string, flags: RunFlags) => {
      const { observe, socket, threads, health, name, deadline, drain = deadline / 2 } = flags
      if (drain >= deadline) throw new Exit(exitCodes.usage, `--drain must leave time to stop before --deadline, ${deadline} ms.`)
      const options = { name, observe: observe === true ? 0 : observe, socket, threads, health, deadline, drain }
      end(await run(module, options, (text) => around.complain(text), around.interrupts ?? deaf))
    })
}

/** Nobody tells it to end. */
const deaf = { listen: () => () => {}, end: () => {} }
