// `npm run api`: writes the page of each package's public surface, which is committed, so that a change of it is seen in review.

import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { commandLine } from '@troupe/testkit/internal'

commandLine({ name: 'npm run api', about: 'Writes packages/*/api.md, the public surface of each package, from the declarations that were built.' })
// Only now: it loads a compiler.
const { listingOf, packages, pageOf } = await import('./api/listing.mjs')

function before(page) {
  try {
    return readFileSync(page, 'utf8')
  } catch {
    return ''
  }
}

for (const name of packages) {
  const page = pageOf(name)
  const listing = listingOf(name)
  console.log(`${relative(process.cwd(), page)}: ${before(page) === listing ? 'as it was' : 'changed'}`)
  writeFileSync(page, listing)
}
