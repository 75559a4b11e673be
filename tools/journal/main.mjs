// `npm run journal`: looks after a journal, also one that a system uses meanwhile. This file reads the command line; what is done is in
// commands.mjs, and is made of functions that @troupe/persistence exports.

import { anyText, commandLine, misuse, oneOf, required, whole } from '@troupe/testkit/internal'
import { commands } from './commands.mjs'

const name = 'npm run journal'
/** One that may be left out; `shown` says what holds then. */
const maybe = (takes, means, shown) => ({ ...anyText(takes, means, undefined), shown })
const given = commandLine({
  name,
  about: `Looks after a journal: a directory of LMDB, or a database such as postgres://user@host/database. ${Object.entries(commands)
    .map(([command, { about }]) => `${command}: ${about}.`)
    .join(' ')}`,
  words: {
    command: required(oneOf('command', Object.keys(commands), 'what to do', undefined)),
    journal: required(anyText('journal', 'the directory, or the address of the database', undefined)),
    what: anyText('name', 'which id (show, snapshot) or subject (erase)', undefined),
  },
  options: {
    schema: anyText('name', 'the schema of a journal in PostgreSQL', 'troupe'),
    kind: maybe('kind', 'only ids of this kind (ls)', 'all'),
    after: whole('only events after this number (show)', 0, { from: 0 }),
    most: whole('at most so many (ls, show)', 100),
    to: maybe('file', 'where to: a file (export), a directory (backup)', 'standard output'),
    from: maybe('file', 'the file to import', 'standard input'),
    keys: oneOf('keys', ['with', 'without', 'only'], 'keys of subjects in an export or a backup', 'with'),
    with: maybe('module', 'the module that exports the kind (snapshot)', 'none'),
    scope: anyText('scope', 'what of the journal the system owns (snapshot)', 'default'),
    role: maybe('role', 'an existing role that may read and write (create)', 'none'),
    keeper: maybe('role', 'an existing role that may delete and erase besides (create)', 'none'),
  },
})

const command = commands[given.command]
for (const option of command.needs ?? [])
  if (given[option] === undefined) misuse({ name }, `${given.command} needs ${option === 'what' ? command.what : `--${option}`}`)
if (given.what !== undefined && command.what === undefined) misuse({ name }, `There is no place for '${given.what}' in ${given.command}`)

// Whoever reads us may stop early, as `head` does.
process.stdout.on('error', () => process.exit())
try {
  process.exitCode = (await command.run(given)) ?? 0
} catch (cause) {
  process.stderr.write(`${cause.message}\n`)
  process.exitCode = 1
}
