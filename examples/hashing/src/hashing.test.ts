// The pipeline of the example, run on threads from its built modules.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ActorSystem } from '@troupe/core'
import { threads } from '@troupe/node'
import { pipeline, type Progress } from '../dist/pipeline.js'

test('every file is hashed once, unreadable ones are told, and progress reaches the end', async () => {
  const files = ['../README.md', '../package.json', '../tsconfig.json'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
  const system = ActorSystem.create('test', { logger: false })
  threads(system, { size: 2 })
  const seen: Progress[] = []
  const { hashes, failed } = await new Promise<{ hashes: ReadonlyMap<string, string>; failed: readonly string[] }>((resolve) => {
    system.spawn(
      pipeline({
        paths: [...files, '/no/such/file'],
        workers: 2,
        rounds: 1,
        onProgress: (p) => void seen.push(p),
        onDone: (h, f) => resolve({ hashes: h, failed: f }),
      }),
    )
  })
  for (const file of files) expect(hashes.get(file)).toBe(createHash('sha256').update(readFileSync(file)).digest('hex'))
  expect(failed).toEqual(['/no/such/file'])
  expect(seen.at(-1)).toMatchObject({ done: 4, of: 4 })
  await system.shutdown()
})
