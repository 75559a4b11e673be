// How a project is begun: what was said, what is asked where somebody can be asked, what is written, and what to do next.

import { spawn } from 'node:child_process'
import { relative } from 'node:path'
import { createProject, type Created, Refused } from './project.ts'

/** What was said on the command line. */
export interface Wishes {
  readonly folder?: string | undefined
  readonly name?: string | undefined
  /** Whether what it needs is installed at once. */
  readonly install?: boolean | undefined
}

/** Asks a person. Undefined is an answer too: it was called off. */
export interface Asker {
  folder(): Promise<string | undefined>
  install(): Promise<boolean | undefined>
}

/**
 * Begins a project, and says what to do next. Without an asker nothing is asked: the folder must be said, and nothing is installed unless that is said.
 *
 * Guarantees: what is called off has written nothing. Fails: as `createProject` does, and with `Refused` where installing fails.
 *
 * @example
 * await begin({ folder: 'my-app' }, undefined, (line) => console.log(line))
 */
export async function begin(wishes: Wishes, asker: Asker | undefined, say: (line: string) => void): Promise<Created | undefined> {
  const folder = wishes.folder ?? (await asker?.folder())
  if (folder === undefined) {
    if (asker !== undefined) return undefined
    throw new Refused('Say which folder the project goes to, such as my-app.')
  }
  const install = wishes.install ?? (asker === undefined ? false : await asker.install())
  if (install === undefined) return undefined
  const created = createProject({ folder, name: wishes.name })
  say(`${created.name} is begun in ${created.folder}: ${created.files.length} files`)
  if (install) await installed(created.folder)
  const place = relative(process.cwd(), created.folder)
  const steps = [...(place === '' ? [] : [`cd ${place}`]), ...(install ? [] : ['npm install']), 'npm start']
  say(`next: ${steps.join(' && ')}`)
  return created
}

/** By npm, which says for itself how it goes. */
function installed(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Refused(`npm install ${why}. What was written is there: mend the cause, and run it in ${folder}.`))
    const child = spawn('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
    child.on('error', (cause) => fail(`cannot be started: ${cause.message}`))
    child.on('exit', (code, signal) => (code === 0 ? resolve() : fail(`ended with ${code ?? signal}`)))
  })
}
