// The command line: checked before anything runs; what is wrong is said in one line, with exit code 2.

import { parseArgs } from 'node:util'
import type { World } from './world.ts'

const usage = `Usage: npm run start -- [options]

Airlift: ten thousand drones, each an actor. The page shows them; crash them, storm them, kill the process.

  --seed <number>      what parcels, hills and weather are drawn from (default: 1)
  --drones <number>    how many, in a hundred districts (default: 10000)
  --threads <number>   threads that plan routes (default: 2)
  --cluster <number>   on so many nodes, each a process, where a NATS server is found; else on one (default: off)
  --port <number>      where the page is (default: any free port)
  --open               opens the page in a browser (default: off)
  --headless           no page at all (default: off)
  --seconds <number>   ends by itself after so long, with the sum (default: never in a terminal, else see --forever)
  --forever            without a terminal, does not end two minutes after the last page was closed (default: off)
  --data <folder>      keeps the journal there and goes on with it the next time (default: a folder that is removed)
  -h, --help           prints this
`

const options = {
  seed: { type: 'string', default: '1' },
  drones: { type: 'string', default: '10000' },
  threads: { type: 'string', default: '2' },
  cluster: { type: 'string' },
  port: { type: 'string', default: '0' },
  open: { type: 'boolean', default: false },
  headless: { type: 'boolean', default: false },
  seconds: { type: 'string' },
  forever: { type: 'boolean', default: false },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

export interface AirliftCommand {
  readonly world: World
  readonly threads: number
  /** How many nodes; undefined for one process. */
  readonly cluster: number | undefined
  readonly port: number
  readonly open: boolean
  readonly headless: boolean
  /** Infinity for ever; undefined for as long as somebody looks. */
  readonly seconds: number | undefined
  readonly data: string | undefined
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run start -- --help\n`)
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

function whole(name: string, text: string, from: number, to: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isSafeInteger(value) || value < from || value > to) refuse(`--${name} takes a whole number from ${from} to ${to}, not '${text}'`)
  return value
}

/** Districts are ten by ten. */
const side = 10

export function airliftCommand(): AirliftCommand {
  const given = read()
  if (given.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  if (given.seconds !== undefined && given.forever) refuse('--seconds and --forever exclude each other')
  if (given.headless && given.open) refuse('--headless has no page to --open')
  if (given.headless && given.port !== '0') refuse('--headless has no page, and needs no --port')
  const drones = whole('drones', given.drones, side * side, 50_000)
  if (drones % (side * side) !== 0) refuse(`--drones takes a multiple of ${side * side}, as many for each district, not '${given.drones}'`)
  return {
    world: { columns: side, rows: side, dronesEach: drones / (side * side), seed: whole('seed', given.seed, 0, 2 ** 31) },
    threads: whole('threads', given.threads, 2, 16),
    cluster: given.cluster === undefined ? undefined : whole('cluster', given.cluster, 2, 8),
    port: whole('port', given.port, 0, 65_535),
    open: given.open,
    headless: given.headless,
    seconds: given.forever ? Infinity : given.seconds === undefined ? undefined : whole('seconds', given.seconds, 1, 1_000_000),
    data: given.data,
  }
}
