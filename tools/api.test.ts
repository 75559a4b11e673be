// The public surface of each package is a committed page: who changes it sees it in review, and says what every name is for.

import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { listingOf, packages, pageOf, surfaceOf } from './api/listing.mjs'
import { buildPackages } from './compilers.ts'

beforeAll(buildPackages, 180_000)

/** Classes that users are given and never make; how to come by one is said at what makes it. */
const given = new Set(['Decision', 'Measuring', 'RouterCommand', 'Sending', 'ServiceKey'])

const linesOf = (text: string): string[] => text.split(/\r?\n/)

test('the packages are those that are published', () => {
  expect(packages).toEqual(expect.arrayContaining(['border', 'core', 'node', 'testkit']))
})

describe.each(packages)('packages/%s', { timeout: 120_000 }, (name) => {
  test('its page is what it exports; npm run api writes it', () => {
    const listed = new Set(linesOf(readFileSync(pageOf(name), 'utf8')))
    const listing = listingOf(name)
    const built = new Set(linesOf(listing))
    // The lines that differ first, since those are what a reader wants to see.
    expect({ gone: [...listed].filter((line) => !built.has(line)), come: [...built].filter((line) => !listed.has(line)) }).toEqual({
      gone: [],
      come: [],
    })
    expect(linesOf(readFileSync(pageOf(name), 'utf8'))).toEqual(linesOf(listing))
  })

  test('every name has its sentence, and an example where it can be called', () => {
    const names = surfaceOf(name).entries.flatMap((entry) => entry.names)
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter(({ text }) => text.length < 5).map((each) => each.name)).toEqual([])
    // The border is for sibling packages; what users meet of it is exported by those.
    if (name === 'border') return
    const mute = names.filter((each) => each.callable && !each.error && each.examples.length === 0 && !given.has(each.name))
    expect(mute.map((each) => each.name)).toEqual([])
  })

  test('every option says what it does', () => {
    const { entries, mentioned } = surfaceOf(name)
    const options = [...entries.flatMap((entry) => entry.names), ...mentioned].filter((each) => /^interface \w*Options\b/.test(each.code))
    // A member that begins right after another line than the end of a comment.
    expect(
      options.flatMap(({ name: of, code }) => [...code.matchAll(/(?<!\*\/)\n {4}(?:readonly )?(\w+)\??[:(]/g)].map((found) => `${of}.${found[1]}`)),
    ).toEqual([])
  })
})
