// Cancelled by hand after 200 ms.

import { CancellationToken, delay } from '@troupe/core'
import { longTask, outcomeOf } from './long-task.ts'

const token = new CancellationToken()
const task = outcomeOf(longTask(token))
await delay(200)
token.cancel('took too long')
console.log('outcome', await task, 'because', token.reason)
