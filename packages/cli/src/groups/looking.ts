// Commands that look at a system that runs.

import { Option } from 'commander'
import { type Common, looking, span, whole, withJson } from '../arguments.ts'
import { attachTo } from '../choosing.ts'
import { doctor } from '../commands/doctor.ts'
import { inspect } from '../commands/inspect.ts'
import { dead, events, waits } from '../commands/lists.ts'
import { ls } from '../commands/ls.ts'
import { type SortedBy, sorts, top } from '../commands/top.ts'
import { tree } from '../commands/tree.ts'
import type { Group } from './group.ts'

export function addLooking({ program, around, end }: Group): void {
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
  program.commandsGroup('Diagnose:')
  command('doctor', 'what needs attention, in sentences; exit code 1 if something will not get better by itself')
    .option('--for <time>', 'how long to look', span, 8000)
    .action(async (options: Common & { readonly for: number }) => {
      const attached = await attachTo(options.system)
      end(await doctor(attached, screen, { json: options.json === true, for: options.for }))
      attached.close()
    })
}
