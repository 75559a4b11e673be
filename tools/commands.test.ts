// Every command of package.json that takes arguments, run as built: what is wrong is said in one line and nothing runs; --help
// is the usage. Run `npm run build` first; `npm test` does.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './markdown.ts'

/** Bad input of each command, and what the answer must have in it. */
const bad: Readonly<Record<string, readonly (readonly [args: readonly string[], says: string])[]>> = {
  api: [[['core'], "no place for 'core'; there is only --help"]],
  autobahn: [[['9.3.1'], "no place for '9.3.1'"]],
  pictures: [[['--only', 'nope'], "no view 'nope'; there are: overview"]],
  release: [
    [['huge'], "no bump 'huge'; there are: patch, minor, major"],
    [['patch', 'now'], "no place for 'now'"],
    [['--date', 'soon'], "--date takes a day, such as 2026-01-31, not 'soon'"],
  ],
  bench: [
    [['--only', 'nope'], "no benchmark 'nope'; there are: ping-pong, counting"],
    [['--peers', 'raw,nope'], "no peer 'nope'; there are: raw, none"],
    [['--rounds', 'x'], "--rounds takes a whole number from 1 on, not 'x'"],
  ],
  'bench:core': [[['x'], "<rounds> takes a whole number from 1 on, not 'x'"]],
  'bench:ask': [[['0'], "<rounds> takes a whole number from 1 on, not '0'"]],
  'bench:fan-in': [[['long'], "<seconds> takes a whole number from 1 on, not 'long'"]],
  'bench:overload': [[['--quick=1'], "--quick takes no value, but was given '1'"]],
  'bench:import': [[['0'], "<rounds> takes a whole number from 1 on, not '0'"]],
  'bench:middleware': [[['99'], "<setup> takes a whole number from 0 to 4, not '99'"]],
  'bench:redis': [
    [['--tests', 'set,nope'], "no test 'nope'; there are: ping_inline"],
    [['--pipelines', '1,x'], "--pipelines takes a whole number from 1 on, not 'x'"],
  ],
  'bench:idle': [
    [['--connections', 'many'], "not 'many'"],
    [['--clients', '1', '1'], 'no option --clients'],
  ],
  'bench:stopped': [
    [['--seconds', 'long'], "--seconds takes a number from 0 to 86400, not 'long'"],
    [['--reader'], 'no option --reader'],
  ],
  'bench:threads': [[['5'], "no place for '5'; there is only --help"]],
  'bench:diff': [
    [[], '<revision> is missing'],
    [['no-such-revision'], "no revision 'no-such-revision'"],
  ],
  'bench:flame': [
    [[], '<benchmark> is missing'],
    [['nope'], "no benchmark 'nope'; there are: ping-pong"],
    [['ping-pong', 'nope'], "no side 'nope'; there are: troupe, raw"],
  ],
  docs: [
    [['pages'], "no place for 'pages'"],
    [['--port', '0'], "--port takes a whole number from 1 to 65535, not '0'"],
  ],
  engines: [[['--only', 'nope'], "no engine 'nope'; there are: postgres, nats"]],
  chaos: [
    [['soon'], "<seconds> takes a number from 0 to 86400, not 'soon'"],
    [['1', '10', '7', 'nope'], "no memory 'nope'; there are: shared, ports"],
  ],
  'bench:cluster': [
    [['--only', 'nope'], "no part 'nope'; there are: carry, failover"],
    [['--kills', '0'], "--kills takes a whole number from 1 on, not '0'"],
  ],
  'sim:cluster': [
    [['--faults', '0'], "--faults takes a whole number from 1 on, not '0'"],
    [['--scenario', 'nope'], "no scenario 'nope'; there are: cluster strikes"],
  ],
  'joins:cluster': [[['--joins', 'many'], "--joins takes a whole number from 1 on, not 'many'"]],
  'measure:cluster': [
    [['--nodes', '0'], "--nodes takes a whole number from 2 on, not '0'"],
    [['--only', 'nope'], "no part 'nope'; there are: crowd, idle, leave"],
  ],
  'chaos:refs': [
    [['--seconds', 'long'], "--seconds takes a whole number from 1 on, not 'long'"],
    [['--between', 'worlds'], "no border 'worlds'; there are: all, nodes, threads"],
  ],
  'chaos:cluster': [
    [['--faults', 'many'], "--faults takes a whole number from 1 on, not 'many'"],
    [['--only', 'fire'], "no kind 'fire'; there are: kill, stop"],
  ],
  'chaos:linearizability': [
    [['--faults', 'many'], "--faults takes a whole number from 1 on, not 'many'"],
    [['--stale=1'], "--stale takes no value, but was given '1'"],
  ],
  'damage:journal': [
    [['--damages', '0'], "--damages takes a whole number from 1 on, not '0'"],
    [['--markless=1'], "--markless takes no value, but was given '1'"],
  ],
  'chaos:journal': [
    [['--rounds', '0'], "--rounds takes a whole number from 1 on, not '0'"],
    [['--store', 'nope'], "no store 'nope'; there are: sqlite, postgres"],
    [['--through', 'nope'], "no way 'nope'; there are: actors, port"],
    [['--leaky=1'], "--leaky takes no value, but was given '1'"],
  ],
  'bench:observer': [
    [['--rounds', '0'], "--rounds takes a whole number from 1 on, not '0'"],
    [['--actors', 'many'], "--actors takes a whole number from 1 on, not 'many'"],
  ],
  'bench:persistence': [
    [['--only', 'nope'], "no side 'nope'; there are: "],
    [['--seconds', 'long'], "--seconds takes a number from 0.1 to 600, not 'long'"],
    [['--rounds', '0'], "--rounds takes a whole number from 1 on, not '0'"],
  ],
  sim: [
    [['--seeds', 'abc'], "--seeds takes a whole number from 1 on, not 'abc'"],
    [['--seeds'], '--seeds needs a value'],
    [['--start', 'soon'], "--start takes a whole number, not 'soon'"],
    [['--jobs', '0'], "--jobs takes a whole number from 1 on, not '0'"],
    [['--scenario', 'nope'], "no scenario 'nope'; there are: lifecycle storm"],
  ],
  'sim:mutants': [
    [['--only', 'nope'], "no kind 'nope'; there are: classics, operators"],
    [['--name', 'nope'], "no classic with 'nope' in its name"],
    [['--in', 'nope'], "no file with 'nope' in its path"],
    [['--again', 'no-such-file'], "cannot read 'no-such-file'"],
    [['--json', 'no-such-folder/x.json'], "cannot write 'no-such-folder/x.json'"],
  ],
  redis: [
    [['--port', 'abc'], "--port takes a whole number from 0 to 65535, not 'abc'"],
    [['--port'], "'--port <value>' argument missing"],
    [['--port', '--plain'], "'--port' argument is ambiguous"],
    [['extra'], "Unexpected argument 'extra'"],
  ],
  bank: [
    [['--rounds', '3'], '--rounds needs --chaos'],
    [['--chaos', '--rounds', '0'], "--rounds takes a whole number from 1 on, not '0'"],
    [['--chaos', '--forever'], '--chaos ends after its --rounds'],
    [['--seconds', 'long'], "--seconds takes a number from 0 on, not 'long'"],
    [['--accounts', '1'], "--accounts takes a whole number from 2 on, not '1'"],
    [['--store', 'nope'], "no store 'nope'; there are: sqlite, postgres"],
    [['--store', 'postgres', '--data', 'x'], '--data is for --store sqlite'],
    [['extra'], "Unexpected argument 'extra'"],
  ],
  cluster: [
    [['--seconds', 'long'], "--seconds takes a number from 0 on, not 'long'"],
    [['--forever', '--seconds', '3'], '--forever takes no --seconds'],
    [['--strikes', '3'], '--strikes is for --chaos'],
    [['--chaos', '--strikes', '0'], "--strikes takes a whole number from 1 on, not '0'"],
    [['--rooms', '1000'], "--rooms takes a whole number from 1 to 999, not '1000'"],
    [['--lease', '10'], "--lease takes a whole number from 1000 to 600000, not '10'"],
    [['--engine', 'nope'], "no engine 'nope'; there are: nats, memory, auto"],
    [['--store', 'nope'], "no store 'nope'; there are: sqlite, postgres"],
    [['--store', 'postgres', '--data', 'x'], '--data is for --store sqlite'],
    [['--engine', 'memory', '--data', 'x'], '--engine memory keeps nothing'],
    [['extra'], "Unexpected argument 'extra'"],
  ],
  start: [
    [['--drones', '150'], "--drones takes a multiple of 100, as many for each district, not '150'"],
    [['--seconds', 'long'], "--seconds takes a whole number from 1 to 1000000, not 'long'"],
    [['--seconds', '5', '--forever'], '--seconds and --forever exclude each other'],
    [['--headless', '--open'], '--headless has no page to --open'],
    [['--port', '70000'], "--port takes a whole number from 0 to 65535, not '70000'"],
    [['--threads', '1'], "--threads takes a whole number from 2 to 16, not '1'"],
    [['extra'], "Unexpected argument 'extra'"],
  ],
  soak: [
    [['--minutes', '0'], "--minutes takes a number from 0.1 to 100000, not '0'"],
    [['--drones', '150'], "--drones takes a multiple of 100, as many for each district, not '150'"],
    [['--hours', '3'], "Unknown option '--hours'"],
  ],
  chat: [
    [['--port', '65536'], "not '65536'"],
    [['--sleep-after', 'never'], "--sleep-after takes milliseconds, above 0, not 'never'"],
    [['--host', ''], '--host takes an address'],
  ],
  'test:runtimes': [
    [['--clients', '0'], "--clients takes a whole number from 1 on, not '0'"],
    [['--only', 'node24,nope'], "no runtime 'nope'; there are: node20, node22, node24, node26, bun, deno, chromium"],
    [['--files', 'tcp', '--write'], '--write takes whole suites, not --files'],
    [['--suite', 'nope'], "no suite 'nope'; there are: core, threads, io, journal, echo"],
  ],
  'test:repeat': [
    [['--runs', '0'], "--runs takes a whole number from 1 on, not '0'"],
    [['--load', '-1'], "--load takes a whole number from 0 to 64, not '-1'"],
    [['--alone'], '--alone needs --only, --list or --timers'],
    [['--list', 'no-such-file'], "cannot read 'no-such-file'"],
  ],
  'test:nodes': [
    [['--only', '18'], "no Node '18'; there are: 20, 22, 24, 26"],
    [['--tested', 'all'], "no Node 'all'; there are: 20, 22, 24, 26"],
  ],
  'fuzz:border': [[['--values', 'many'], "--values takes a whole number from 1 on, not 'many'"]],
  'fuzz:frames': [[['--inputs', 'many'], "--inputs takes a whole number from 1 on, not 'many'"]],
  'fuzz:resp': [[['--frames', 'x'], "--frames takes a whole number from 1 on, not 'x'"]],
}
const withoutArguments = ['build', 'lint', 'format', 'size', 'test', 'test:unit', 'test:ports', 'test:packed']
/** What `troupe` takes is tried in packages/cli. */
const ofTroupe = ['journal']

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

const oneLine = expect.stringMatching(/^.+\n$/) as string

interface Outcome {
  readonly code: number | string | null
  readonly out: string
  readonly err: string
}

/** Runs what the script runs, past npm and the build; the time is the limit of a hang, far above what any needs. */
function run(script: string, args: readonly string[]): Promise<Outcome> {
  const [, entry = ''] = /^node tools\/build\.mjs && node (.+)$/.exec(scripts[script] ?? '') ?? []
  return new Promise((resolve) => {
    execFile(process.execPath, [...entry.split(' '), ...args], { cwd: root, timeout: 150_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), out, err }),
    )
  })
}

test('every script that takes arguments is tried here', () => {
  expect(Object.keys(scripts).toSorted()).toEqual([...Object.keys(bad), ...withoutArguments, ...ofTroupe].toSorted())
})

describe.concurrent.each(Object.keys(bad))('npm run %s', (script) => {
  const refusals = [[['--frob'], '--frob'] as const, ...bad[script]!]
  test.each(refusals)('%j is refused in one line, with exit code 2, and nothing runs', async (args, says) => {
    const { code, out, err } = await run(script, args)
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: oneLine })
    expect(err).toContain(says)
    expect(err).toMatch(new RegExp(`For help: npm run ${script} -- --help\\n$`))
    if (args[0] === '--frob') expect(err).toMatch(/--frob'?; there (are:|is only) .*--help/)
  })

  // Those with a reader of their own are tried with both; the others share one, which has its own test.
  test.each(script === 'redis' || script === 'chat' || script === 'bank' || script === 'cluster' ? ['--help', '-h'] : ['--help'])(
    '%s prints the usage, every option with its default, and ends with 0',
    async (flag) => {
      const { code, out, err } = await run(script, [flag])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(new RegExp(`^Usage: npm run ${script}( |\\n)`))
      expect(out).toMatch(/^ {2}-h, --help +prints this$/m)
      for (const line of out.split('\n').filter((l) => l.startsWith('  --'))) expect(line).toMatch(/\(default: .+\)$/)
    },
  )
})

test.each([
  ['redis', []],
  ['redis', ['--plain']],
  ['chat', []],
] as const)('npm run %s with %j on a port in use says so in one line and ends with 1', async (script, args) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    const { code, out, err } = await run(script, [...args, '--port', String(port)])
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: oneLine })
    expect(err).toMatch(new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port} \\(.*EADDRINUSE.*choose another address with --port`))
  } finally {
    other.close()
  }
})
