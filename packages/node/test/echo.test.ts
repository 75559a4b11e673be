// Clients in another process that send, end their side at once and expect all of it back, hundreds at a time. The same server on other
// runtimes: `npm run test:runtimes`.

import { expect, test } from 'vitest'
import { echo } from '../dist-test/echo.js'

test.each([
  ['handler', 900, 100],
  ['late', 900, 100],
  ['owner', 900, 100],
  ['owner', 100, 300_000],
  ['tls', 200, 100],
])('a server in the form "%s" loses nothing of %i clients that send %i bytes each and end their side at once', async (form, clients, bytes) => {
  expect(await echo([process.execPath], form, clients, bytes)).toEqual({
    total: clients,
    lost: 0,
    errors: 0,
    served: { errors: 0, unaccounted: 0 },
  })
})
