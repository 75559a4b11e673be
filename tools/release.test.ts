// What `npm run release` would do to the files, and that the workflow which publishes knows every package. Nothing is published here.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { root } from './markdown.ts'
import { publishOrder } from './release/order.mjs'
import { type Bump, bumped, bumpFor, planRelease } from './release/plan.mjs'

const changelog = (notes: string, before = '\n## [1.2.3] - 2026-01-01\n\n### Added\n\n- The first.\n'): string =>
  `# Changelog\n\n## [Unreleased]\n\n${notes}\n${before}`
const core = '{\n  "name": "@x/core",\n  "version": "1.2.3",\n  "exports": { ".": "./x.js" }\n}\n'
const node = `{
  "name": "@x/node",
  "version": "1.2.3",
  "dependencies": { "ws": "1.2.3", "@x/border": "~1.2.3" },
  "peerDependencies": { "@x/core": "^1.2.3" }
}
`
const border = '{ "name": "@x/border", "version": "1.2.3", "peerDependencies": { "@x/core": ">=1.2.3" } }\n'
const example = '{ "name": "@x/example", "private": true, "version": "0.0.0", "dependencies": { "@x/core": "1.2.3", "@x/node": "*" } }\n'
const lock = `${JSON.stringify({ packages: { 'packages/core': { name: '@x/core', version: '1.2.3' }, 'examples/a': { name: '@x/example', dependencies: { '@x/core': '1.2.3', ws: '1.2.3' } } } }, null, 2)}\n`
const manifests = { 'core/package.json': core, 'node/package.json': node, 'border/package.json': border, 'a/package.json': example }
const plan = (notes: string, bump?: Bump, more: object = {}): ReturnType<typeof planRelease> =>
  planRelease({ changelog: changelog(notes), manifests, lock, bump, date: '2026-02-03', ...more })

describe('a release', () => {
  test('sets the version of every package and the ranges on them, and leaves the rest of each file as it is', () => {
    const { from, to, files } = plan('### Added\n\n- More.')
    expect({ from, to }).toEqual({ from: '1.2.3', to: '1.3.0' })
    expect(files).toEqual({
      'CHANGELOG.md': changelog('## [1.3.0] - 2026-02-03\n\n### Added\n\n- More.'),
      'package-lock.json': lock.replace('"version": "1.2.3"', '"version": "1.3.0"').replace('"@x/core": "1.2.3"', '"@x/core": "1.3.0"'),
      'core/package.json': core.replace('1.2.3', '1.3.0'),
      'node/package.json': node.replaceAll('1.2.3', '1.3.0').replace('"ws": "1.3.0"', '"ws": "1.2.3"'),
      'border/package.json': border.replaceAll('1.2.3', '1.3.0'),
      'a/package.json': example.replace('1.2.3', '1.3.0'),
    })
  })
  test.each([
    ['### Fixed\n\n- It works.', '1.2.3', 'patch'],
    ['### Security\n\n- A hole.', '0.2.3', 'patch'],
    ['### Added\n\n- More.\n\n### Fixed\n\n- It works.', '1.2.3', 'minor'],
    ['### Changed\n\n- Breaking: `a` is `b`.', '1.2.3', 'major'],
    ['### Changed\n\n- **Breaking** `a` is `b`.', '0.2.3', 'minor'],
    ['### Removed\n\n- `a`.', '1.2.3', 'major'],
    ['### Removed\n\n- `a`.', '0.2.3', 'minor'],
  ])('of %j from %s on is a %s one', (notes, version, bump) => expect(bumpFor(notes, version)).toBe(bump))
  test('counts what is said, and what follows begins at 0', () => {
    expect(['patch', 'minor', 'major'].map((bump) => bumped('1.2.3', bump as Bump))).toEqual(['1.2.4', '1.3.0', '2.0.0'])
    expect(plan('### Fixed\n\n- It works.', 'major').to).toBe('2.0.0')
  })
  test('that is the first of all has the version that is there', () => {
    expect(plan('', undefined, { changelog: changelog('### Added\n\n- All.', '') })).toMatchObject({ from: '1.2.3', to: '1.2.3' })
  })
  test.each<[string, object]>([
    ['there is nothing under Unreleased', { changelog: changelog('### Added\n') }],
    ['has no section Unreleased', { changelog: '# Changelog\n' }],
    ['has a section 1.2.4 already', { changelog: changelog('### Fixed\n\n- It.', '\n## [1.2.4] - 2026-01-01\n') }],
    ['have 2 versions (1.2.3, 2.0.0)', { manifests: { ...manifests, 'b/package.json': '{ "name": "@x/b", "version": "2.0.0" }' } }],
    [
      `wants @x/core '1.x'`,
      { manifests: { ...manifests, 'b/package.json': '{ "name": "@x/b", "private": true, "dependencies": { "@x/core": "1.x" } }' } },
    ],
  ])('is refused where it %s', (says, more) => expect(() => plan('### Fixed\n\n- It works.', undefined, more)).toThrow(says))
})

const published = readdirSync(join(root, 'packages'))
  .map((name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as { name: string; private?: boolean })
  .filter((manifest) => manifest.private !== true)
  .map(({ name }) => name)

test('npm run release shows what it would do, has npm look at every package, and changes nothing', { timeout: 180_000 }, async () => {
  const before = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const { stdout } = await promisify(execFile)(process.execPath, ['tools/release.mjs', 'minor'], { cwd: root })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+ → \d+\.\d+\.0\n {2}CHANGELOG\.md\n/)
  for (const name of published) expect(stdout).toMatch(new RegExp(`npm publish --dry-run ${name}: [1-9]\\d* files, [1-9]\\d* kB`))
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toBe(before)
})

test('the workflow publishes every package, with provenance and without a token', () => {
  const workflow = readFileSync(join(root, '.github/workflows/publish.yml'), 'utf8')
  expect(workflow).toContain('for name in $(node tools/release/order.mjs); do npm publish --provenance --access public --workspace "$name"; done')
  const order = publishOrder()
  expect(order.toSorted()).toEqual(published.toSorted())
  const at = (name: string): number => order.indexOf(`@troupe/${name}`)
  expect([at('core'), at('border'), at('node')]).toEqual([at('core'), at('border'), at('node')].toSorted((a, b) => a - b))
  expect(workflow).toContain('id-token: write')
  expect(workflow).not.toMatch(/secrets\.|registry|_authToken/)
})
