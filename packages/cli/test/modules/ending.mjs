// An application that is done at once: its root stops by itself, or fails where it is told to.
import { setup, stopped } from '@troupe/core'

export const options = { logger: false, supervision: 'stop' }

export default setup(() => {
  if (process.env['TROUPE_TEST_FAILS'] === 'yes') throw new Error('no disk')
  return stopped
})
