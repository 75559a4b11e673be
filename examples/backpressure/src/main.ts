import { setTimeout as sleep } from 'node:timers/promises'
import { ActorSystem } from '@troupe/core'
import { importRows } from './import.ts'

await using system = ActorSystem.create('import')
const rows = Array.from({ length: 200 }, (_, line) => ({ line: line + 1 }))
const { written, most, shown } = await importRows(system, rows, () => sleep(2), 10)
console.log(`${written} rows written; at most ${most} waited; the display showed ${shown.length} of them, the last being ${shown.at(-1)}`)
