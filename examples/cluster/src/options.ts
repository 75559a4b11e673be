// The command line: checked before anything runs; what is wrong is said in one line, with exit code 2.

import { parseArgs } from 'node:util'

const usage = `Usage: npm run cluster -- [options]

Game rooms sharded over three processes, with persistent state. In a terminal: keys kill, pause and restart nodes.

  --chaos               nodes are killed, paused and restarted, and NATS is taken away, by itself (default: off)
  --seconds <number>    how long people play (default: 20; with --chaos 60)
  --strikes <number>    with --chaos: ends after so many strikes instead (default: after --seconds)
  --forever             until Ctrl-C or q (default: off)
  --rooms <number>      how many rooms, up to 999 (default: 24)
  --players <number>    how many players each room has (default: 3)
  --pause <number>      milliseconds that a player thinks, on average (default: 40)
  --lease <number>      milliseconds after which a silent node is gone, from 1000 on (default: 3000)
  --engine <engine>     nats, memory, or auto: nats where one is found (default: auto)
  --store <store>       sqlite, or postgres where it is found; with memory it is memory (default: sqlite)
  --data <folder>       where SQLite keeps it; the games go on there the next time (default: a folder that is removed)
  --seed <number>       what players and --chaos are drawn from (default: 1)
  -h, --help            prints this
`

const options = {
  chaos: { type: 'boolean', default: false },
  seconds: { type: 'string' },
  strikes: { type: 'string' },
  forever: { type: 'boolean', default: false },
  rooms: { type: 'string', default: '24' },
  players: { type: 'string', default: '3' },
  pause: { type: 'string', default: '40' },
  lease: { type: 'string', default: '3000' },
  engine: { type: 'string', default: 'auto' },
  store: { type: 'string' },
  data: { type: 'string' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

export interface ClusterOptions {
  readonly chaos: boolean
  /** Infinity for ever. */
  readonly seconds: number
  /** Ends the evening instead of `seconds`. */
  readonly strikes: number | undefined
  readonly rooms: number
  readonly players: number
  readonly pause: number
  readonly lease: number
  readonly engine: 'nats' | 'memory' | 'auto'
  readonly store: 'sqlite' | 'postgres'
  readonly data: string | undefined
  readonly seed: number
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run cluster -- --help\n`)
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

function number(name: string, text: string, from: number, to: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  const whole = name !== 'seconds'
  const fits = whole ? Number.isSafeInteger(value) : Number.isFinite(value)
  if (!fits || value < from || value > to)
    refuse(`--${name} takes a ${whole ? 'whole ' : ''}number from ${from} ${to === Infinity ? 'on' : `to ${to}`}, not '${text}'`)
  return value
}

export function clusterOptions(): ClusterOptions {
  const given = read()
  if (given.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const { chaos, data, engine, store = 'sqlite' } = given
  if (engine !== 'auto' && engine !== 'nats' && engine !== 'memory') refuse(`--engine knows no engine '${engine}'; there are: nats, memory, auto`)
  if (store !== 'sqlite' && store !== 'postgres') refuse(`--store knows no store '${store}'; there are: sqlite, postgres`)
  if (data === '') refuse('--data takes a folder, not nothing')
  if (data !== undefined && store === 'postgres') refuse('--data is for --store sqlite; PostgreSQL keeps its own')
  if (engine === 'memory' && (data !== undefined || given.store !== undefined))
    refuse('--engine memory keeps nothing, and takes neither --store nor --data')
  if (given.forever && given.seconds !== undefined) refuse('--forever takes no --seconds')
  if (given.strikes !== undefined && (!chaos || given.forever || given.seconds !== undefined))
    refuse('--strikes is for --chaos, and takes neither --seconds nor --forever')
  return {
    chaos,
    engine,
    store,
    data,
    seconds: given.forever ? Infinity : number('seconds', given.seconds ?? (chaos ? '60' : '20'), 0, Infinity),
    strikes: given.strikes === undefined ? undefined : number('strikes', given.strikes, 1, Infinity),
    rooms: number('rooms', given.rooms, 1, 999),
    players: number('players', given.players, 1, 20),
    pause: number('pause', given.pause, 1, 60_000),
    lease: number('lease', given.lease, 1000, 600_000),
    seed: number('seed', given.seed, 0, Number.MAX_SAFE_INTEGER),
  }
}
