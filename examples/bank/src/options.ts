// The command line: checked before anything runs; what is wrong is said in one line, with exit code 2.

import { parseArgs } from 'node:util'

const usage = `Usage: npm run bank -- [options]

A bank whose money survives kill -9: accounts are event-sourced actors, transfers go by reliable delivery.

  --chaos               kills the bank again and again while it works, and audits what is left (default: off)
  --rounds <number>     how many kills, with --chaos (default: 20)
  --seconds <number>    how long the bank is open, without --chaos (default: 6)
  --forever             until Ctrl-C, without --chaos (default: off)
  --accounts <number>   how many accounts, with 1,000 each (default: 100)
  --customers <number>  how many transfers are under way at a time (default: 50)
  --store <store>       sqlite, or postgres where it is found (default: sqlite)
  --data <folder>       where SQLite keeps it; the bank goes on there the next time (default: a folder that is removed)
  --seed <number>       what customers and kills are drawn from (default: 1)
  -h, --help            prints this
`

const options = {
  chaos: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  forever: { type: 'boolean', default: false },
  accounts: { type: 'string', default: '100' },
  customers: { type: 'string', default: '50' },
  store: { type: 'string', default: 'sqlite' },
  data: { type: 'string' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

export interface BankOptions {
  readonly chaos: boolean
  readonly rounds: number
  /** Infinity for ever. */
  readonly seconds: number
  readonly accounts: number
  readonly customers: number
  readonly store: 'sqlite' | 'postgres'
  readonly data: string | undefined
  readonly seed: number
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run bank -- --help\n`)
  return process.exit(2)
}

function read(): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] {
  try {
    return parseArgs({ options }).values
  } catch (cause) {
    // The first line says what is wrong, the others how to quote.
    const [problem = ''] = (cause as Error).message.split(/\.?\n|\. /)
    return refuse(
      `${problem}; there are: ${Object.keys(options)
        .map((name) => `--${name}`)
        .join(', ')}`,
    )
  }
}

function number(name: string, text: string, from: number, whole: boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  const fits = whole ? Number.isSafeInteger(value) : Number.isFinite(value)
  if (!fits || value < from) refuse(`--${name} takes a ${whole ? 'whole ' : ''}number from ${from} on, not '${text}'`)
  return value
}

export function bankOptions(): BankOptions {
  const given = read()
  if (given.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const { chaos, store, data } = given
  if (store !== 'sqlite' && store !== 'postgres') refuse(`--store knows no store '${store}'; there are: sqlite, postgres`)
  if (data === '') refuse('--data takes a folder, not nothing')
  if (data !== undefined && store === 'postgres') refuse('--data is for --store sqlite; PostgreSQL keeps its own')
  if (given.rounds !== undefined && !chaos) refuse('--rounds needs --chaos')
  if (chaos && (given.seconds !== undefined || given.forever)) refuse('--chaos ends after its --rounds, and takes neither --seconds nor --forever')
  return {
    chaos,
    store,
    data,
    rounds: number('rounds', given.rounds ?? '20', 1, true),
    seconds: given.forever ? Infinity : number('seconds', given.seconds ?? '6', 0, false),
    accounts: number('accounts', given.accounts, 2, true),
    customers: number('customers', given.customers, 1, true),
    seed: number('seed', given.seed, 0, true),
  }
}
