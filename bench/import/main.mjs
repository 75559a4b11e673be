// How long it takes to load core, and until an actor on a thread gives its first answer: the packages as one file each, and as the modules that
// the compiler makes of the sources, side by side in one run. Every figure is of a fresh process; the two take turns.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, whole } from '@troupe/testkit/internal'

const { rounds } = commandLine({
  name: 'npm run bench:import',
  about: 'How long it takes to load core, and until a thread gives its first answer: as one file for each package, and as modules.',
  words: { rounds: whole('fresh processes of each kind', 20) },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = ['core', 'border', 'node']
const top = mkdtempSync(join(tmpdir(), 'troupe-import-'))

const programs = {
  'core.mjs': `
    const since = performance.now()
    const cpu = process.cpuUsage()
    await import('@troupe/core')
    const { user, system } = process.cpuUsage(cpu)
    console.log(performance.now() - since, (user + system) / 1000)`,
  'thread.mjs': `
    import { ActorSystem } from '@troupe/core'
    import { threads } from '@troupe/node/threads'
    import { echo } from './echo.mjs'
    const system = ActorSystem.create('first')
    const since = performance.now()
    const cpu = process.cpuUsage()
    threads(system, { size: 2 })
    await system.spawn(echo(), { dispatcher: 'parallel' }).ask((replyTo) => ({ replyTo }))
    const { user, system: kernel } = process.cpuUsage(cpu)
    console.log(performance.now() - since, (user + kernel) / 1000)
    await system.shutdown()`,
  'echo.mjs': `
    import { receive, same } from '@troupe/core'
    import { defineActor } from '@troupe/node/threads'
    export const echo = defineActor(import.meta.url, 'echo', () => receive((_ctx, m) => (m.replyTo.tell(1), same)))`,
}

/** A project in which the packages are installed as one of the two; `fill` puts the code of one into its folder. */
function prepare(kind, fill) {
  const modules = join(top, kind, 'node_modules')
  for (const name of packages) {
    mkdirSync(join(modules, '@troupe', name), { recursive: true })
    cpSync(join(root, 'packages', name, 'package.json'), join(modules, '@troupe', name, 'package.json'))
    fill(name, join(modules, '@troupe', name, 'dist'))
  }
  symlinkSync(join(root, 'node_modules/ws'), join(modules, 'ws'))
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(top, kind, name), text)
}

function compile(name, outDir) {
  const folder = join(root, 'packages', name)
  const off = {
    composite: false,
    incremental: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    emitDeclarationOnly: false,
  }
  const compilerOptions = { ...off, rootDir: join(folder, 'src'), outDir, typeRoots: [join(root, 'node_modules/@types')], noCheck: true }
  const config = join(top, `tsconfig.${name}.json`)
  const extended = join(folder, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: extended,
      compilerOptions,
      include: [join(folder, 'src')],
      exclude: [join(folder, 'src/**/*.test.ts')],
      references: [],
    }),
  )
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], { stdio: 'inherit' })
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const ms = (value) => `${value.toFixed(1)} ms`

try {
  prepare('modules', compile)
  prepare('one file', (name, dist) => cpSync(join(root, 'packages', name, 'dist'), dist, { recursive: true }))
  const kinds = ['modules', 'one file']
  const rows = {}
  for (const [what, program] of [
    ['loading core', 'core.mjs'],
    ['first answer of a thread', 'thread.mjs'],
  ]) {
    const found = { modules: [], 'one file': [] }
    for (let round = 0; round < rounds; round++)
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed())
        found[kind].push(
          execFileSync(process.execPath, [join(top, kind, program)], { encoding: 'utf8' })
            .split(' ')
            .map(Number),
        )
    for (const [i, clock] of ['time', 'CPU time'].entries()) {
      const [modules, one] = kinds.map((kind) => median(found[kind].map((figures) => figures[i])))
      rows[`${what}, ${clock}`] = { modules: ms(modules), 'one file': ms(one), ratio: (one / modules).toFixed(2) }
    }
  }
  console.log(`medians of ${rounds} fresh processes each`)
  console.table(rows)
} finally {
  rmSync(top, { recursive: true, force: true })
}
