// Who takes part in bench:persistence: for each how it is prepared, what it runs, and what it is called. Every side runs in a process of its
// own, on a folder of its own; one that cannot take part says why and is left out. A new row is a new side here.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findPostgres, startPostgres } from '../../tools/engines/postgres.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const pekkoHome = here('../peers/pekko-persistence/')
const emmettHome = here('../peers/emmett/')

/** Commands in flight: of one actor, and of each of a thousand. */
export const shapes = [
  { name: '1 actor', actors: 1, window: 1000 },
  { name: '1,000 actors', actors: 1000, window: 10 },
]

/** Ours, by the way `one.mjs` knows. `alone` has one command in flight per actor, as those have who wait for every write. */
function own(name, label, store, { alone = false, prepare = () => Promise.resolve(undefined) } = {}) {
  return {
    name,
    label,
    prepare,
    command: ({ actors, window }, place, warm, seconds) => ({
      file: process.execPath,
      args: ['--expose-gc', here('one.mjs'), JSON.stringify({ store, actors, window: alone ? 1 : window, warm, seconds, ...place })],
    }),
  }
}

let server
const postgres = {
  prepare: async () => {
    if (server !== undefined) return undefined
    const found = findPostgres()
    if (found === undefined) return 'no PostgreSQL was found; npm run engines -- --only postgres fetches one'
    server = await startPostgres(found)
    return undefined
  },
}
/** What a side needs besides its folder. */
export const placeOf = (folder) => ({ folder, url: server?.url })
export const endSides = () => server?.end()

/** Builds the Pekko peers where that is needed; says why it cannot be. */
function pekkoMissing() {
  if (spawnSync('java', ['-version']).error !== undefined) return 'java is missing (17 or later)'
  const [source, pom, built] = ['src/main/java/bench/Persist.java', 'pom.xml', 'target/classes/bench/Persist.class'].map((path) => pekkoHome + path)
  if (existsSync(built) && [source, pom].every((path) => statSync(built).mtimeMs >= statSync(path).mtimeMs)) return undefined
  if (spawnSync('mvn', ['-v']).error !== undefined) return 'mvn is missing'
  try {
    // From nothing: what was built from an earlier source may look newer than it is.
    rmSync(`${pekkoHome}target`, { recursive: true, force: true })
    execFileSync('mvn', ['-B', '-q', 'package'], { cwd: pekkoHome, stdio: ['ignore', 'pipe', 'pipe'], timeout: 600_000 })
    return undefined
  } catch (cause) {
    return `mvn package failed: ${String(cause.stderr ?? cause)
      .trim()
      .split('\n')
      .at(-1)}`
  }
}

/** Pekko with a journal; `where` says by which argument it is found. */
function pekko(name, label, where, prepare = () => Promise.resolve(undefined)) {
  return {
    name,
    label,
    prepare: async () => (await prepare()) ?? pekkoMissing(),
    command: ({ actors, window }, place, warm, seconds) => ({
      file: 'java',
      args: ['-cp', 'target/classes:target/lib/*', 'bench.Persist', where(place), actors, window, Math.max(3, warm * 3), seconds].map(String),
      cwd: pekkoHome,
    }),
  }
}

const emmett = {
  name: 'emmett',
  label: 'Emmett, append only, 100 at once',
  /** It has no actors: it is measured once, in the first column. */
  shapes: [0],
  prepare: async () => {
    const missing = await postgres.prepare()
    if (missing !== undefined || existsSync(`${emmettHome}node_modules/@event-driven-io/emmett-postgresql`)) return missing
    try {
      execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'], {
        cwd: emmettHome,
        stdio: 'pipe',
        timeout: 600_000,
      })
      return undefined
    } catch (cause) {
      return `npm install failed: ${String(cause.stderr ?? cause)
        .trim()
        .split('\n')
        .at(-1)}`
    }
  },
  command: (_shape, place, warm, seconds) => ({
    file: process.execPath,
    args: [`${emmettHome}main.mjs`, JSON.stringify({ url: place.url, warm, seconds })],
  }),
}

/** What single things cost, see `costs.mjs`. */
function costs(name, label, store, prepare = () => Promise.resolve(undefined)) {
  return {
    name,
    label,
    shapes: [],
    minutes: 10,
    prepare,
    command: (_shape, place) => ({ file: process.execPath, args: ['--expose-gc', here('costs.mjs'), JSON.stringify({ store, ...place })] }),
  }
}

export const sides = [
  own('none', 'no journal at all, gate', 'none'),
  own('sqlite-alone', 'SQLite, one at a time', 'sqlite', { alone: true }),
  own('sqlite', 'SQLite, gate', 'sqlite'),
  own('sqlite-asked', 'SQLite, gate, asked from outside', 'sqlite-asked'),
  own('sqlite-journal', 'SQLite, the journal itself', 'sqlite-journal'),
  own('sqlite-replay', 'SQLite, replay (events/s)', 'sqlite-replay'),
  own('postgres-alone', 'PostgreSQL, one at a time', 'postgres', { alone: true, ...postgres }),
  own('postgres', 'PostgreSQL, gate', 'postgres', postgres),
  own('postgres-journal', 'PostgreSQL, the journal itself', 'postgres-journal', postgres),
  pekko('pekko-leveldb', 'Pekko, LevelDB, fsync on', ({ folder }) => `${folder}/journal`),
  pekko('pekko-jdbc', 'Pekko, JDBC, the same PostgreSQL', ({ url }) => jdbcUrl(url), postgres.prepare),
  emmett,
  {
    name: 'idle',
    label: 'bytes of an idle actor',
    /** Measured once, and shown by itself. */
    shapes: [],
    prepare: () => Promise.resolve(undefined),
    command: () => ({ file: process.execPath, args: ['--expose-gc', here('idle.mjs')] }),
  },
  costs('costs', 'what single things cost on SQLite', 'sqlite'),
  costs('costs-postgres', 'what single things cost on PostgreSQL', 'postgres', postgres.prepare),
  {
    name: 'memory',
    label: 'memory of SQLite',
    shapes: [],
    prepare: () => Promise.resolve(undefined),
    command: (_shape, place) => ({
      file: process.execPath,
      args: ['--expose-gc', here('memory.mjs'), JSON.stringify({ store: 'sqlite', ...place })],
    }),
  },
]

/** The address as JDBC writes it. */
function jdbcUrl(url) {
  const { host, pathname, username, password } = new URL(url)
  return `jdbc:postgresql://${host}${pathname}?user=${username}&password=${password}`
}

/** What the figures must reach, as ratios of one run: row, of which other, how much. */
export const budgets = [
  { row: 'sqlite', of: 'sqlite-alone', shape: 0, least: 100 },
  { row: 'sqlite', of: 'none', shape: 0, least: 0.3 },
  { row: 'sqlite', of: 'none', shape: 1, least: 0.2 },
  { row: 'sqlite', of: 'pekko-leveldb', shape: 0, least: 40 },
  { row: 'sqlite', of: 'pekko-leveldb', shape: 1, least: 40 },
  { row: 'postgres', of: 'pekko-jdbc', shape: 0, least: 2 },
  { row: 'postgres', of: 'pekko-jdbc', shape: 1, least: 2 },
  { row: 'postgres', of: 'emmett', shape: 0, least: 30 },
]
/** And as figures by themselves. */
export const limits = [
  { row: 'sqlite-replay', figure: 'rate', least: 200_000 },
  { row: 'sqlite-replay', figure: 'loop', most: 20 },
  { row: 'sqlite', figure: 'loop', most: 20 },
]
/** How many times as much memory as a plain actor an idle persistent one may take. */
export const idleMost = 2
/** MB that a journal and its thread may take after a million events of a thousand actors: see decision 239. */
export const memoryMost = { heap: 25, external: 35, resident: 176 }
/** What the figures of `costs.mjs` mean, and must reach; PostgreSQL waits for a server, and has budgets of its own where that matters. */
export const costRows = [
  { figure: 'timers', text: '20,000 durable timers of one actor / 1,000, each', most: 1.5 },
  { figure: 'longRuns', text: 'reading a run of 20,000 events / of 1,000, each event', most: 1.5 },
  { figure: 'rareTag', text: 'reading by tag and kind holds the loop, p99 in ms', most: 20 },
  { figure: 'small', text: 'start of small actors / of a large one in the same batch', most: 0.5 },
  { figure: 'oneByOne', text: 'replay of one event per commit / of packed runs, 1 actor', most: 3 },
  { figure: 'oneByOneOfMany', text: 'replay of one event per commit / of packed runs, 200 actors', most: 3 },
  { figure: 'subjects', text: 'new subjects per second', least: 5000 },
  { figure: 'oversize', text: 'refusing an event of 100 MB holds the loop, at most ms', most: 50 },
]
