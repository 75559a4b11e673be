// An application whose default export is its root: a supervisor with one child that counts.
import { child, match, same, supervisor } from '@troupe/core'

export const options = { logger: false }

const counter = match({
  add: () => same,
  get: (_ctx, { replyTo }) => replyTo.tell(1),
})

export default supervisor({ children: [child('counter', counter)] })
