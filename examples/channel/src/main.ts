// Ten numbers through a channel with room for three, two consumers of 20 ms each.

import { delay } from '@troupe/core'
import { pipeline } from './pipeline.ts'

const log = (line: string): void => console.log(line)
const counts = await pipeline(
  10,
  3,
  2,
  async (n) => {
    await delay(20)
    log(`                received ${n}`)
  },
  log,
)
log(`${counts.join(' + ')} received`)
