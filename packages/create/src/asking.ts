// Asks at a terminal, and nowhere else.

import { confirm, isCancel, text } from '@clack/prompts'
import type { Asker } from './beginning.ts'
import { problemOf } from './project.ts'
import { basename, resolve } from 'node:path'

/**
 * Somebody at a terminal; undefined where there is none, for a pipe cannot answer.
 *
 * @example
 * await begin({}, askInTerminal(process.stdin.isTTY), (line) => console.log(line))
 */
export function askInTerminal(isTerminal: boolean): Asker | undefined {
  if (!isTerminal) return undefined
  const answered = <T extends string | boolean>(answer: T | symbol | undefined): T | undefined =>
    isCancel(answer) ? undefined : (answer as T | undefined)
  return {
    folder: async () =>
      answered<string>(
        await text({
          message: 'Where does the project go?',
          placeholder: 'my-app',
          defaultValue: 'my-app',
          validate: (value) => (value === undefined || value === '' ? undefined : problemOf(basename(resolve(value)))),
        }),
      ),
    install: async () => answered<boolean>(await confirm({ message: 'Install what it needs now?', initialValue: true })),
  }
}
