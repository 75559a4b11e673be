// Commands that look at a system that runs.

import { Option } from 'commander'
import { type Common, looking, span, whole, withJson } from '../arguments.ts'
import { attachTo } from '../choosing.ts'
import { doctor } from '../commands/doctor.ts'
import { flow } from '../commands/flow.ts'
import { inspect } from '../commands/inspect.ts'
import { dead, events, waits } from '../commands/lists.ts'
import { ls } from '../commands/ls.ts'
import { profile } from '../commands/profile.ts'
import { report } from '../commands/report.ts'
import { type SortedBy, sorts, top } from '../commands/top.ts'
import { trace } from '../commands/trace.ts'
import { tree } from '../commands/tree.ts'
import { Exit, exitCodes } from '../exit.ts'
import type { Group } from './group.ts'

/** Milliseconds that a system lets itself be profiled for. */
const longestProfile = 30_000

export function addLooking({ program, around }: Group): void {
  const { screen } = around
  program.commandsGroup('Look:')
  const command = (name: string, about: string): ReturnType<typeof looking> => looking(program.command(name).description(about))
  withJson(program.command('ls').description('the systems that can be looked at')).action((options: Common) =>
    ls(screen, { json: options.json === true }),
  )
  command('top', 'the actors in most trouble, or the busiest, once a second')
    .addOption(new Option('--by <what>', 'what comes first').choices([...sorts]).default('trouble'))
    .option('-n, --count <times>', 'so many pictures; piped, one', whole(1))
    .action(async (options: Common & { readonly by: SortedBy; readonly count?: number }) => {
      await top(await attachTo(options.system), screen, { json: options.json === true, by: options.by, count: options.count }, around.keys)
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
  command('flow', 'who sends how much to whom, by kind, sampled for some seconds')
    .option('--for <time>', 'how long to look', span, 3000)
    .option('-m, --most <ways>', 'how many', whole(1), 30)
    .action(async (options: Common & { readonly for: number; readonly most: number }) =>
      flow(await attachTo(options.system), screen, { json: options.json === true, for: options.for, most: options.most }),
    )
}

export function addDiagnosing({ program, around, end }: Group): void {
  const { screen } = around
  const waitFor = (what: string): void => around.waitFor?.(what)
  program.commandsGroup('Diagnose:')
  const command = (name: string, about: string): ReturnType<typeof looking> => looking(program.command(name).description(about))
  command('doctor', 'what needs attention, in sentences; exit code 1 where one of them will not get better by itself (■), 0 else')
    .option('--for <time>', 'how long to look', span, 8000)
    .action(async (options: Common & { readonly for: number }) => {
      const attached = await attachTo(options.system)
      end(await doctor(attached, screen, { json: options.json === true, for: options.for }))
      attached.close()
    })
  command('trace', 'follows the next message of a type, and what comes of it: how long each waited, and was handled')
    .requiredOption('--next <type>', 'the type of the message, as flow shows it')
    .option('--within <time>', 'how long to wait for it', span, 30_000)
    .option('--settle <time>', 'how long to follow what comes of it', span, 5000)
    .action(async (options: Common & { readonly next: string; readonly within: number; readonly settle: number }) =>
      trace(
        await attachTo(options.system),
        screen,
        { json: options.json === true, next: options.next, within: options.within, settle: options.settle },
        waitFor,
      ),
    )
  command('profile', 'what the thread of the system does for some seconds: whose turns take the time, and in which functions')
    .option('--for <time>', 'how long to look, up to 30 s', span, 5000)
    .option('-m, --most <lines>', 'how many kinds, and actors', whole(1), 10)
    .action(async (options: Common & { readonly for: number; readonly most: number }) => {
      if (options.for > longestProfile) throw new Exit(exitCodes.usage, 'A profile takes up to 30 s: use --for 30s or less.')
      await profile(
        await attachTo(options.system),
        screen,
        { json: options.json === true, for: Math.round(options.for), most: options.most },
        waitFor,
      )
    })
  command('report', 'all of it as one file: HTML, or with --json JSON; no messages')
    .option('--to <file>', 'where to')
    .option('--for <time>', 'how long to look', span, 8000)
    .action(async (options: Common & { readonly to?: string; readonly for: number }) =>
      report(await attachTo(options.system), screen, { json: options.json === true, to: options.to, for: options.for }),
    )
}
