// Once all goes well; once the second step breaks.

import { processData } from './process-data.ts'

const log = (line: string): void => console.log(line)
const steps = [
  { name: 'download', ms: 30 },
  { name: 'images', ms: 20 },
  { name: 'database', ms: 40 },
]
log(`all done: ${(await processData(steps, log)).join(', ')}`)
const broken = steps.map(({ name, ms }) => ({ name, ms, fails: name === 'images' }))
await processData(broken, log).catch((cause: Error) => log(cause.message))
