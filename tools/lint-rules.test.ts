// The rules that keep core simulable are themselves checked: a small tree with every violation is linted with the real
// configuration. Without this, a renamed folder or a changed rule name would switch a ban off in silence.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const layers = ['values', 'ports', 'deciders', 'queues', 'cell', 'system', 'patterns']
const hostGlobals = ['Date', 'console', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance', 'process', 'globalThis']

/** The rules that each file breaks, by its path. */
function lint(files: Readonly<Record<string, string>>): Record<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-lint-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    // Types would need an installed project; the rules at stake here do not look at them.
    const config = readFileSync(join(root, '.oxlintrc.json'), 'utf8').replace('"typeAware": true', '"typeAware": false')
    writeFileSync(join(folder, '.oxlintrc.json'), config)
    const command = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint')
    const { stdout } = spawnSync(process.execPath, [command, '-f', 'unix'], { cwd: folder, encoding: 'utf8', timeout: 120_000 })
    const found: Record<string, string[]> = Object.fromEntries(Object.keys(files).map((path) => [path, []]))
    for (const line of stdout.split('\n')) {
      const match = /^(.*?):\d+:\d+: .*\[Error\/\w+\((.*)\)\]$/.exec(line)
      if (match !== null) found[match[1]!.replaceAll('\\', '/')]?.push(match[2]!)
    }
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a folder of core imports only those to its left, types too', () => {
  const files: Record<string, string> = {}
  const expected: Record<string, string[]> = {}
  for (const [i, from] of layers.entries()) {
    for (const [j, to] of layers.entries()) {
      const path = `packages/core/src/${from}/to-${to}.ts`
      files[path] = i === j ? `export type A = 1\n` : `import type { A } from '../${to}/to-${to}.ts'\nexport type B = A\n`
      expected[path] = j > i ? ['no-restricted-imports'] : []
    }
    files[`packages/core/src/${from}/to-index.ts`] = `export * from '../index.ts'\n`
    expected[`packages/core/src/${from}/to-index.ts`] = ['no-restricted-imports']
    files[`packages/core/src/${from}/to-node.ts`] = `export { readFileSync } from 'node:fs'\n`
    expected[`packages/core/src/${from}/to-node.ts`] = ['no-restricted-imports']
  }
  expect(lint(files)).toEqual(expected)
})

test.each([
  ['packages/core/src/cell', ['message', 'ask', 'ref', 'life', 'turn', 'context'], '@troupe/border'],
  ['packages/border/src', ['ports', 'codec', 'values', 'way', 'questions', 'lives', 'exchange'], '@troupe/node'],
  ['packages/node/src/threads', ['wire', 'survey', 'pool'], '@troupe/testkit'],
  ['packages/observer/src', ['survey', 'findings', 'sampling', 'capsule', 'source', 'feed', 'server', 'attach', 'telemetry'], '@troupe/node'],
  ['packages/persistence/src', ['values', 'journal', 'gate', 'reading', 'keeping', 'operating'], '@troupe/border'],
  [
    'packages/cluster/src',
    ['values', 'ports', 'engines', 'membership', 'channel', 'ledger', 'refs', 'sharding', 'node', 'testing', 'simulation'],
    '@troupe/node',
  ],
])('a room of %s uses only those to its left; types may point anywhere in it', (base, rooms, sibling) => {
  const files: Record<string, string> = {}
  const expected: Record<string, string[]> = {}
  for (const [i, from] of rooms.entries()) {
    for (const [j, to] of rooms.entries()) {
      const path = `${base}/${from}/to-${to}.ts`
      files[path] = i === j ? `export const a = 1\n` : `import { a } from '../${to}/to-${to}.ts'\nexport const b: number = a\n`
      expected[path] = j > i ? ['no-restricted-imports'] : []
      const types = `${base}/${from}/types-of-${to}.ts`
      files[types] = i === j ? `export type A = 1\n` : `import type { A } from '../${to}/types-of-${to}.ts'\nexport type B = A\n`
      expected[types] = []
    }
    files[`${base}/${from}/to-core.ts`] = `export { coreOf } from '@troupe/core/internal'\n`
    expected[`${base}/${from}/to-core.ts`] = base.includes('/core/') ? ['no-restricted-imports'] : []
    files[`${base}/${from}/to-sibling.ts`] = `export * from '${sibling}'\n`
    expected[`${base}/${from}/to-sibling.ts`] = ['no-restricted-imports']
  }
  expect(lint(files)).toEqual(expected)
})

test('files beside the rooms hold to what their package is built on; threads and I/O know nothing of each other', () => {
  const siblings = ['border', 'node', 'testkit', 'persistence', 'cluster']
  const may: Record<string, readonly string[]> = { border: [], node: ['border'], testkit: [], persistence: [], cluster: ['border'] }
  const files: Record<string, string> = {}
  const expected: Record<string, string[]> = {}
  const put = (path: string, from: string, refused: boolean): void => {
    files[path] = `export * from '${from}'\n`
    expected[path] = refused ? ['no-restricted-imports'] : []
  }
  for (const name of siblings)
    for (const other of siblings) put(`packages/${name}/src/to-${other}.ts`, `@troupe/${other}`, !may[name]!.includes(other))
  for (const other of ['core', 'observer', 'cli']) put(`packages/create/src/to-${other}.ts`, `@troupe/${other}`, true)
  put('packages/node/src/io/to-threads.ts', '../threads/index.ts', true)
  put('packages/node/src/io/to-border.ts', '@troupe/border', true)
  put('packages/node/src/io/to-core.ts', '@troupe/core/internal', false)
  for (const room of ['wire', 'survey', 'pool']) put(`packages/node/src/threads/${room}/to-io.ts`, '../../io/index.ts', true)
  expect(lint(files)).toEqual(expected)
})

test('the border needs nothing of Node', () => {
  const path = 'packages/border/src/way/to-node.ts'
  expect(lint({ [path]: `export { MessageChannel } from 'node:worker_threads'\n` })).toEqual({ [path]: ['no-restricted-imports'] })
})

test('a cluster takes its time and its chance from its Timing', () => {
  const path = 'packages/cluster/src/membership/to-host.ts'
  const text = 'export const used: unknown = [Date.now(), setTimeout, Math.random()]\n'
  expect(lint({ [path]: text })[path]!.toSorted()).toEqual(['no-restricted-globals', 'no-restricted-globals', 'no-restricted-properties'])
})

test('only ports/host.ts may touch the host', () => {
  const uses = [...hostGlobals.map((name) => [name, 'no-restricted-globals'] as const), ['Math.random', 'no-restricted-properties'] as const]
  const files = Object.fromEntries(uses.map(([name]) => [`packages/core/src/cell/${name}.ts`, `export const used: unknown = ${name}\n`]))
  const expected = Object.fromEntries(uses.map(([name, rule]) => [`packages/core/src/cell/${name}.ts`, [rule]]))
  const host = uses.map(([name], i) => `export const used${i}: unknown = ${name}\n`).join('')
  expect(lint({ ...files, 'packages/core/src/ports/host.ts': host })).toEqual({ ...expected, 'packages/core/src/ports/host.ts': [] })
})

test('files that import each other in a circle are found, among the steps of a life too', () => {
  const circle = (folder: string): Record<string, string> => ({
    [`${folder}/a.ts`]: `import { b } from './b.ts'\nexport const a = (): unknown => b\n`,
    [`${folder}/b.ts`]: `import { a } from './a.ts'\nexport const b = (): unknown => a\n`,
  })
  const found = lint({
    ...circle('packages/core/src/values'),
    ...circle('packages/node/src'),
    ...circle('packages/core/src/cell/turn'),
    ...circle('packages/core/src/cell/life'),
  })
  expect(found).toEqual({
    'packages/core/src/values/a.ts': ['no-cycle'],
    'packages/core/src/values/b.ts': ['no-cycle'],
    'packages/node/src/a.ts': ['no-cycle'],
    'packages/node/src/b.ts': ['no-cycle'],
    'packages/core/src/cell/turn/a.ts': ['no-cycle'],
    'packages/core/src/cell/turn/b.ts': ['no-cycle'],
    'packages/core/src/cell/life/a.ts': ['no-cycle'],
    'packages/core/src/cell/life/b.ts': ['no-cycle'],
  })
})
