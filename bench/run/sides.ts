// Who takes part: Troupe, the raw floor, and the peers. For each: how it is prepared (built on demand into ignored
// folders), how it is run, and what version it is. A peer whose toolchain is missing says so and is left out.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
}

export interface Side {
  readonly name: string
  readonly label: string
  /** Warm-up compared to the others': a JVM needs more. */
  readonly warmth: number
  /** Undefined when ready; else why this side cannot take part. With `build` false nothing is built or installed. */
  prepare(build: boolean): string | undefined
  version(): string
  command(benchmark: string, warm: number, time: number): Command
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const peers = here('../../peers/')
const jsPeers = `${peers}js`

function output(file: string, args: readonly string[]): string {
  const result = spawnSync(file, args, { encoding: 'utf8' })
  return result.error === undefined ? `${result.stdout}${result.stderr}`.trim() : ''
}
const has = (file: string, args: readonly string[]): boolean => spawnSync(file, args).error === undefined
const newer = (target: string, source: string): boolean => existsSync(target) && statSync(target).mtimeMs >= statSync(source).mtimeMs

function build(file: string, args: readonly string[], cwd: string): string | undefined {
  try {
    execFileSync(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: 600_000 })
    return undefined
  } catch (cause) {
    const stderr = (cause as { stderr?: Buffer }).stderr?.toString() ?? ''
    return `${file} ${args[0]} failed: ${stderr.trim().split('\n').at(-1) ?? String(cause)}`
  }
}

/** Ours or the floor, on this Node, with or without flags of V8. */
function own(name: string, label: string, side: 'troupe' | 'raw', flags: readonly string[] = []): Side {
  return {
    name,
    label,
    warmth: 1,
    prepare: () => undefined,
    version: () => (JSON.parse(readFileSync(here('../../../packages/core/package.json'), 'utf8')) as { version: string }).version,
    command: (benchmark, warm, time) => {
      if (benchmark === 'idle') return { file: process.execPath, args: ['--expose-gc', ...flags, here('../native/idle.js'), side] }
      return { file: process.execPath, args: [...flags, here('one.js'), side, benchmark, String(warm), String(time)] }
    },
  }
}

function npm(name: string, label: string): Side {
  return {
    name,
    label,
    warmth: 1,
    prepare: (may) => {
      if (existsSync(`${jsPeers}/node_modules/${name}`)) return undefined
      if (!may) return 'not installed yet (a full run installs it)'
      return build('npm', ['install', '--no-audit', '--no-fund'], jsPeers)
    },
    version: () => (JSON.parse(readFileSync(`${jsPeers}/node_modules/${name}/package.json`, 'utf8')) as { version: string }).version,
    command: (benchmark, warm, time) => ({
      file: process.execPath,
      args: ['--expose-gc', `${jsPeers}/${name}.mjs`, benchmark, String(warm), String(time)],
    }),
  }
}

const erlang: Side = {
  name: 'erlang',
  label: 'Erlang/OTP',
  warmth: 1,
  prepare: () => {
    if (!has('erlc', [])) return 'erlc is missing (Debian: erlang-base)'
    if (newer(`${peers}erlang/ebin/bench.beam`, `${peers}erlang/bench.erl`)) return undefined
    mkdirSync(`${peers}erlang/ebin`, { recursive: true })
    return build('erlc', ['-o', 'ebin', 'bench.erl'], `${peers}erlang`)
  },
  version: () => output('erl', ['-noshell', '-eval', 'io:format("~s",[erlang:system_info(otp_release)]),halt().']),
  command: (benchmark, warm, time) => ({
    file: 'erl',
    args: ['-noshell', '+P', '2000000', '-pa', 'ebin', '-s', 'bench', 'main', benchmark, String(warm), String(time)],
    cwd: `${peers}erlang`,
  }),
}

const pekko: Side = {
  name: 'pekko',
  label: 'Pekko Typed',
  warmth: 4,
  prepare: (may) => {
    if (!has('java', ['-version'])) return 'java is missing (17 or later)'
    if (
      newer(`${peers}pekko/target/classes/bench/Bench.class`, `${peers}pekko/src/main/java/bench/Bench.java`) &&
      existsSync(`${peers}pekko/target/lib`)
    )
      return undefined
    if (!may) return 'not built yet (a full run builds it)'
    return has('mvn', ['-v']) ? build('mvn', ['-B', '-q', 'package'], `${peers}pekko`) : 'mvn is missing'
  },
  version: () => {
    const pom = readFileSync(`${peers}pekko/pom.xml`, 'utf8')
    const java = /version "([^"]+)"/.exec(output('java', ['-version']))?.[1] ?? 'unknown'
    return `${/pekko-actor-typed_2\.13<\/artifactId>\s*<version>([^<]+)/.exec(pom)?.[1]} on Java ${java}`
  },
  command: (benchmark, warm, time) => ({
    file: 'java',
    args: ['-cp', 'target/classes:target/lib/*', 'bench.Bench', benchmark, String(warm), String(time)],
    cwd: `${peers}pekko`,
  }),
}

const protoactor: Side = {
  name: 'protoactor',
  label: 'Proto.Actor (Go)',
  warmth: 1,
  prepare: (may) => {
    if (newer(`${peers}protoactor-go/bench-peer`, `${peers}protoactor-go/main.go`)) return undefined
    if (!has('go', ['version'])) return 'go is missing (1.23 or later)'
    return may ? build('go', ['build', '-o', 'bench-peer', '.'], `${peers}protoactor-go`) : 'not built yet (a full run builds it)'
  },
  version: () =>
    `${/protoactor-go v[\d.]+-(\d{8})/.exec(readFileSync(`${peers}protoactor-go/go.mod`, 'utf8'))?.[1]} on ${output('go', ['env', 'GOVERSION'])}`,
  command: (benchmark, warm, time) => ({ file: `${peers}protoactor-go/bench-peer`, args: [benchmark, String(warm), String(time)] }),
}

const ractor: Side = {
  name: 'ractor',
  label: 'ractor (Rust)',
  warmth: 1,
  prepare: (may) => {
    if (newer(`${peers}ractor/target/release/bench-peer`, `${peers}ractor/src/main.rs`)) return undefined
    if (!has('cargo', ['--version'])) return 'cargo is missing'
    return may ? build('cargo', ['build', '--release', '-q'], `${peers}ractor`) : 'not built yet (a full run builds it)'
  },
  version: () =>
    `${/ractor = "=([^"]+)"/.exec(readFileSync(`${peers}ractor/Cargo.toml`, 'utf8'))?.[1]} on ${output('rustc', ['--version']).split(' ').slice(0, 2).join(' ')}`,
  command: (benchmark, warm, time) => ({ file: `${peers}ractor/target/release/bench-peer`, args: [benchmark, String(warm), String(time)] }),
}

const xstate = npm('xstate', 'XState')
const node24 = `${peers}node-24/node_modules/node/bin/node`
const semiSpace = ['--max-semi-space-size=64']

/** Ours and the floor; with the young generation enlarged for the benchmarks that are bound by the collector. */
export const ours: Side = own('troupe', 'Troupe', 'troupe')
export const floor: Side = own('raw', 'raw', 'raw')
export const oursEnlarged: Side = own('troupe-64', 'Troupe, semi-space 64 MB', 'troupe', semiSpace)
export const floorEnlarged: Side = own('raw-64', 'raw, semi-space 64 MB', 'raw', semiSpace)

/** On a newer Node, on which V8 runs peers at other speeds: for the benchmarks with a budget of their own there. */
export const newerNode: { readonly version: string; prepare(build: boolean): string | undefined; readonly sides: readonly Side[] } = {
  version: '24',
  prepare: (may) => {
    const why = xstate.prepare(may)
    if (why !== undefined || existsSync(node24)) return why
    if (!may) return 'not installed yet (a full run installs it)'
    return build('npm', ['install', '--no-audit', '--no-fund'], `${peers}node-24`)
  },
  sides: [onNode24(ours), onNode24(xstate)],
}

function onNode24(side: Side): Side {
  return {
    ...side,
    name: `${side.name}-node24`,
    label: `${side.label} on Node 24`,
    command: (benchmark, warm, time) => ({ ...side.command(benchmark, warm, time), file: node24 }),
  }
}

export const peerSides: readonly Side[] = [
  npm('nact', 'nact'),
  xstate,
  npm('effect', 'Effect'),
  npm('comedy', 'comedy'),
  erlang,
  pekko,
  protoactor,
  ractor,
]
