// Commands that let a failure happen again.

import { type Common, looking, withJson } from '../arguments.ts'
import { attachTo } from '../choosing.ts'
import { capsule } from '../commands/capsule.ts'
import { replay } from '../commands/replay.ts'
import type { Group } from './group.ts'

interface ReplayFlags {
  readonly json?: boolean
  readonly with?: string
  readonly asTest?: string | true
}

export function addReproducing({ program, around, end }: Group): void {
  const { screen } = around
  program.commandsGroup('Reproduce:')
  looking(
    program.command('capsule').description('writes what led to the last failure of an actor into a file; of a system that was started with --record'),
  )
    .argument('<path>', 'such as /user/cart')
    .option('--to <file>', 'where to; a name made of the path if left out')
    .action(async (path: string, options: Common & { readonly to?: string }) =>
      capsule(await attachTo(options.system), screen, path, { json: options.json === true, to: options.to }),
    )
  withJson(program.command('replay').description('lets it happen again, alone and on virtual time; exit code 0 if it is the same failure'))
    .argument('<file>', 'what capsule wrote')
    .option('--with <module#name>', 'the code, where the capsule does not say it, or another is meant')
    .option('--as-test [file]', 'writes a test of vitest that does so, where it is the same failure')
    .action(async (file: string, flags: ReplayFlags) =>
      end(await replay(file, screen, { json: flags.json === true, with: flags.with, asTest: flags.asTest })),
    )
}
