// What `npm run docs` does before and after VitePress, which is not installed for tests: pages are written with links that lead somewhere, and
// a broken link of the built site is found.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { brokenLinks } from './docs/links.mjs'
import { contents, resolveLink, sitePages } from './docs/site.mjs'
import { stage } from './docs/stage.mjs'
import { parsePage, root } from './markdown.ts'

const scratch = mkdtempSync(join(tmpdir(), 'troupe-docs-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('every page of the guide, of the recipes and of those who come from elsewhere is listed in docs/README.md, once', () => {
  const listed = contents().flatMap(({ items }) => items.map(({ path }) => path))
  const wanted = [...sitePages().keys()].filter((path) => /^docs\/(guide|recipes|coming-from)\//.test(path) || path.endsWith('/api.md'))
  expect(wanted.filter((path) => !listed.includes(path))).toEqual([])
  expect(listed.filter((path, i) => !sitePages().has(path) || listed.indexOf(path) !== i)).toEqual([])
})

test('pages are written with links that lead somewhere on the site, and blocks that name their language only', () => {
  expect(stage(join(scratch, 'site'), join(root, 'tools/docs'))).toEqual([])
  const guide = readFileSync(join(scratch, 'site/guide/getting-started.md'), 'utf8')
  expect(parsePage(guide).links.map(({ target }) => target)).toContain('../semantics.md')
  const threads = parsePage(readFileSync(join(scratch, 'site/guide/threads.md'), 'utf8'))
  expect(threads.blocks.filter(({ info }) => info.length > 1)).toEqual([])
  // One whose text goes over the end of a line.
  expect(readFileSync(join(scratch, 'site/semantics.md'), 'utf8')).toMatch(/\[OTP's\s+table\]\(https:/)
})

test('a link to a page stays on the site, one to a file goes to the repository, one to nothing is broken', () => {
  const pages = sitePages()
  const from = 'docs/guide/asking.md'
  expect(resolveLink(from, '../../packages/core/api.md#actor', pages).to).toBe('../api/core.md#actor')
  expect(resolveLink(from, '../../package.json', pages).to).toMatch(/^https:\/\/.*\/blob\/main\/package\.json$/)
  expect(resolveLink(from, 'nowhere.md', pages).broken).toContain('does not exist')
})

test('the check of the built site finds pages and headings that are not there', () => {
  const dist = join(scratch, 'dist')
  mkdirSync(join(dist, 'guide'), { recursive: true })
  const b =
    '<a href="../a.html#one">x</a><a href="/a.html#two">x</a><a href="c.html">x</a><a href="https://elsewhere.example">x</a><img src="/x.png">'
  writeFileSync(join(dist, 'a.html'), '<h2 id="one">One</h2><a href="guide/b.html">x</a><a href="#one">x</a>')
  writeFileSync(join(dist, 'guide/b.html'), b)
  expect(brokenLinks(dist)).toEqual([
    'guide/b.html: /a.html#two has no such heading',
    'guide/b.html: c.html leads nowhere',
    'guide/b.html: /x.png leads nowhere',
  ])
})
