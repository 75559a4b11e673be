// Hashes the files of a folder on all cores.

import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ActorSystem } from '@troupe/core'
import { threads } from '@troupe/node'
import { pipeline } from './pipeline.ts'

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url))
const paths = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(folder, entry.name))

const system = ActorSystem.create('hashing')
const pool = threads(system)
const since = performance.now()
await new Promise<void>((resolve) => {
  system.spawn(
    pipeline({
      paths,
      workers: pool.size,
      rounds: 2000,
      onProgress: ({ done, of, bytes }) => {
        const bar = '█'.repeat(Math.round((done / of) * 30)).padEnd(30, '·')
        process.stdout.write(`\r${bar} ${done}/${of} files, ${(bytes / 1024).toFixed(0)} KiB on ${pool.size} threads`)
      },
      onDone: (hashes, failed) => {
        console.log(`\n${hashes.size} hashed, ${failed.length} failed, ${Math.round(performance.now() - since)} ms`)
        for (const [path, hash] of [...hashes].slice(0, 3)) console.log(`  ${hash.slice(0, 16)}…  ${path.slice(folder.length + 1)}`)
        resolve()
      },
    }),
    { name: 'pipeline' },
  )
})
for (const { thread, busy } of pool.vitals()) console.log(`  thread ${thread} was ${Math.round(busy * 100)} % busy`)
await system.shutdown()
