// `npm run engines -- --only postgres,nats`: finds each, or fetches it into a cache folder, and says where it is. Ends with 1 where one cannot
// be had. Nothing of Troupe needs them but tests, benchmarks and chaos runs of its own.

import { commandLine, someOf } from '@troupe/testkit/internal'
import { findNats } from './nats.mjs'
import { findPostgres } from './postgres.mjs'

const engines = {
  postgres: () => findPostgres({ fetch: true }),
  nats: () => findNats({ fetch: true }),
}

const { only } = commandLine({
  name: 'npm run engines',
  about:
    'Servers that tests, benchmarks and chaos runs use where they are there: found on this machine, or fetched into a cache folder (TROUPE_ENGINES).',
  options: { only: someOf('engine', Object.keys(engines), 'just these', 'all') },
})

for (const name of only ?? Object.keys(engines)) {
  let found
  try {
    found = engines[name]()
  } catch (cause) {
    console.log(`${name}: ${cause.message}`)
  }
  if (found === undefined) process.exitCode = 1
  console.log(found === undefined ? `${name}: cannot be had here` : `${name} ${found.version}: ${found.bin ?? found.program}`)
}
