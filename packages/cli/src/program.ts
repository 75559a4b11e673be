// The command `troupe`: which commands there are, and what it ends with.

import { Command } from 'commander'
import { completionFor, type Shell, shells } from './commands/completion.ts'
import { addKeeping } from './groups/keeping.ts'
import { addDiagnosing, addLooking } from './groups/looking.ts'
import { addReproducing } from './groups/reproducing.ts'
import { addRunning } from './groups/running.ts'
import { Exit, exitCodes, exitCodesSaid } from './exit.ts'
import { cleanLines } from './style.ts'
import type { Surroundings } from './surroundings.ts'

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
    .description('Runs systems of Troupe actors, and looks at those that run.')
    .version(around.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => screen.write(text), writeErr: (text) => around.complain(cleanLines(text.trimEnd())) })
    .addHelpText('after', `\nExit codes: ${exitCodesSaid}.`)
  const group = { program, around, end: (with_: number) => void (code = with_) }
  addRunning(group)
  addLooking(group)
  addDiagnosing(group)
  addReproducing(group)
  addKeeping(group)
  program.commandsGroup('Else:')
  program
    .command('completion')
    .description('a script that lets a shell complete the command')
    .argument('<shell>', shells.join(', '))
    .action((shell: string) => {
      if (!shells.includes(shell as Shell)) throw new Exit(exitCodes.usage, `There is no completion for ${shell}; there are: ${shells.join(', ')}.`)
      screen.write(completionFor(shell as Shell, program))
    })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (cause) {
    if (cause instanceof Exit) {
      around.complain(cleanLines(cause.message))
      return cause.status
    }
    const { code: why, exitCode, message } = cause as { code?: string; exitCode?: number; message: string }
    if (why?.startsWith('commander.') === true) return exitCode === 0 ? exitCodes.fine : exitCodes.usage
    around.complain(cleanLines(message))
    return exitCodes.unreachable
  }
}
