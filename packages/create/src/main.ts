#!/usr/bin/env node
// What `npm create @troupe` runs.

import { parseArgs } from 'node:util'
import { askInTerminal } from './asking.ts'
import { begin } from './beginning.ts'
import { Refused } from './project.ts'
import { version } from './version.ts'

const usage = `Usage: npm create @troupe [folder] -- [options]

Begins a project with Troupe actors. In a terminal it asks for what it was not told.

  --name <name>  what the package is called; as the folder is, if left out
  --install      installs what it needs; --no-install does not
  -y, --yes      asks nothing
  -V, --version  prints the version
  -h, --help     prints this
`
const { stdin, stdout, stderr } = process

async function main(): Promise<number> {
  let given
  try {
    given = parseArgs({
      allowPositionals: true,
      allowNegative: true,
      options: {
        name: { type: 'string' },
        install: { type: 'boolean' },
        yes: { type: 'boolean', short: 'y' },
        version: { type: 'boolean', short: 'V' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (cause) {
    stderr.write(`${(cause as Error).message.split(/\.?\n|\. /)[0]}. For help: npm create @troupe -- --help\n`)
    return 2
  }
  const { values, positionals } = given
  if (values.help === true) stdout.write(usage)
  else if (values.version === true) stdout.write(`${version}\n`)
  else if (positionals.length > 1) {
    stderr.write(`There is no place for '${positionals[1]}'. For help: npm create @troupe -- --help\n`)
    return 2
  } else {
    const asker = values.yes === true ? undefined : askInTerminal(stdin.isTTY && stdout.isTTY)
    const created = await begin(
      { folder: positionals[0], name: values.name, install: values.install },
      asker,
      (line) => void stdout.write(`${line}\n`),
    )
    if (created === undefined) stderr.write('Called off: nothing was written.\n')
    return created === undefined ? 1 : 0
  }
  return 0
}

try {
  process.exitCode = await main()
} catch (cause) {
  stderr.write(`${(cause as Error).message}\n`)
  process.exitCode = cause instanceof Refused ? 2 : 1
}
