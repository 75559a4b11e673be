// Commands that run something of the user's.

import { Exit, exitCodes } from '../exit.ts'
import { address, span, whole, withJson } from '../arguments.ts'
import { run } from '../commands/run.ts'
import { sim } from '../commands/sim.ts'
import type { Address } from '../running/health.ts'
import type { Group } from './group.ts'

interface RunFlags {
  readonly name?: string
  readonly observe?: number | true
  readonly socket: boolean
  readonly threads?: number
  readonly record?: number | true
  readonly health?: Address
  readonly deadline: number
  readonly drain?: number
}

export function addRunning(group: Group): void {
  group.program.commandsGroup('Run:')
  addRun(group)
  addNew(group)
  addSim(group)
}

function addRun({ program, around, end }: Group): void {
  program
    .command('run')
    .description('runs the application that a module exports, until it ends or is told to')
    .argument('<module>', 'its default export: the root behavior, such as supervisor(…), or a function that is given the system')
    .option('--observe [port]', 'opens a page that shows the system, and says where', whole(0, 65_535))
    .option('--no-socket', 'does not let troupe top and the others attach')
    .option('--threads <n>', 'installs so many threads: the dispatchers parallel and pinned', whole(2, 1024))
    .option('--record [n]', 'records the last n (1,000) messages of every actor, for troupe capsule', whole(1, 1_000_000))
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
      const { observe, socket, threads, record, health, name, deadline, drain = deadline / 2 } = flags
      if (drain >= deadline) throw new Exit(exitCodes.usage, `--drain must leave time to stop before --deadline, ${deadline} ms.`)
      const options = {
        name,
        observe: observe === true ? 0 : observe,
        socket,
        threads,
        record: record === true ? 1000 : record,
        health,
        deadline,
        drain,
      }
      end(await run(module, options, (text) => around.complain(text), around.interrupts ?? deaf))
    })
}

interface NewFlags {
  readonly name?: string
  readonly install?: boolean
  readonly yes?: boolean
}

function addNew({ program, around, end }: Group): void {
  program
    .command('new')
    .description('begins a project: a folder that installs, runs, can be looked at, and has a test')
    .argument('[folder]', 'such as my-app; must not be there, or be empty')
    .option('--name <name>', 'what the package is called; as the folder is, if left out')
    .option('--install', 'installs what it needs')
    .option('--no-install', 'does not')
    .option('-y, --yes', 'asks nothing')
    .action(async (folder: string | undefined, flags: NewFlags) => {
      const { askInTerminal, begin, Refused } = await import('@troupe/create')
      try {
        const asker = flags.yes === true ? undefined : askInTerminal(around.keys !== undefined)
        const created = await begin({ folder, name: flags.name, install: flags.install }, asker, (line) => around.screen.write(`${line}\n`))
        if (created === undefined) {
          around.complain('Called off: nothing was written.')
          end(exitCodes.found)
        }
      } catch (cause) {
        if (cause instanceof Refused) throw new Exit(exitCodes.usage, cause.message)
        throw cause
      }
    })
}

interface SimFlags {
  readonly json?: boolean
  readonly seeds: number
  readonly start?: number
  readonly scenario?: string
  readonly save?: string
}

function addSim({ program, around, end }: Group): void {
  withJson(program.command('sim').description('runs the simulations that a module exports, over many seeds; exit code 1 if a promise was broken'))
    .argument('<module>', 'exports functions that are given a Simulation of @troupe/testkit, or { scenario, options }')
    .option('--seeds <n>', 'how many seeds, shared among the scenarios', whole(1), 1000)
    .option('--start <seed>', 'the first seed; by chance if left out', whole(0))
    .option('--scenario <name>', 'this one alone')
    .option('--save <file>', 'writes the first run that breaks a promise, for the view Traces of the page')
    .action(async (module: string, { json = false, seeds, start, scenario, save }: SimFlags) => {
      end(await sim(module, around.screen, { json, seeds, start, scenario, save }))
    })
}

/** Nobody tells it to end. */
const deaf = { listen: () => () => {}, end: () => {} }
