// Makes one file of JavaScript of each package, which all its entries export from: two files that both held a class would be two
// classes, and a hundred modules take long to load, once for each thread. What is there already and the same is not written again.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { pageFiles } from './page.mjs'

/** Files of a package that are run and not imported. They are apart from the one file: it must do nothing when it is loaded. */
const programs = {
  cli: ['main'],
  create: ['main'],
  node: ['troupe-thread', 'worker'],
  persistence: ['journal/sqlite/sqlite-worker-main'],
  testkit: ['cli', 'crew/member'],
}
/** Does something when it is loaded, for those alone who do not bundle: a bundler leaves a file out of which nothing is used. */
const aside = /ports\/announce\.ts$/
/** What a thread needs of @troupe/node: a file of its own, for what I/O needs of the host takes longer to load than all of Troupe. */
const threads = /packages\/node\/src\/(threads\/|thread-entry\.ts$)/

/** What the observer knows without a host: a file of its own, for tests that run on none. */
const neutral = /packages\/observer\/src\/((findings|survey)(\/|\.ts$)|capsule(\.ts$|\/))/
/** Packages that are not published: the build puts what others use of them into those. */
const inlined = ['sqlite']
/** What the worker of a SQLite journal needs: a file of its own, because a thread with all of persistence and core takes longer to start. */
const sqliteWorker =
  /packages\/(sqlite\/src\/|persistence\/src\/(journal\/(postgres\/(text|run-text)|sqlite\/sqlite-(commit-mark|exit-guard|open|rows|schema|verify|wal|writer|writes))|values\/names)\.ts$)/
/** What needs a library that not everybody has: a file for each. */
const prometheus = /packages\/observer\/src\/(telemetry\/)?prometheus\.ts$/
const opentelemetry = /packages\/observer\/src\/(telemetry\/(opentelemetry|spans)|opentelemetry)\.ts$/
/** What tests of a cluster need, ours among them: it needs the testkit, which programs do not have. */
const simulation = /packages\/cluster\/src\/(simulation\/|(testing|internal)\.ts$)/

/** Of the packages that there are below `root`. */
export async function bundle(root) {
  const there = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src', 'index.ts')))
  await Promise.all(there.map((name) => bundleOne(join(root, 'packages', name), name)))
}

async function bundleOne(folder, name) {
  const src = join(folder, 'src')
  const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = Object.values(exports).flatMap((to) => /^\.\/dist\/(.*)\.js$/.exec(to?.default ?? '')?.[1] ?? [])
  const own = new Set((programs[name] ?? []).map((file) => join(src, `${file}.ts`)))
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries([...new Set([...entries, ...(programs[name] ?? [])])].map((entry) => [entry, join(src, `${entry}.ts`)])),
    external: [/^node:/, ...Object.keys({ ...dependencies, ...peerDependencies }).map((other) => new RegExp(`^${other}(/|$)`))],
    platform: 'neutral',
    resolve: { alias: Object.fromEntries(inlined.map((other) => [`@troupe/${other}`, join(folder, '..', other, 'src/index.ts')])) },
    // Where nobody says so, package.json does: for those who bundle us, nothing is to be kept.
    treeshake: { moduleSideEffects: (id) => own.has(id) || aside.test(id) || undefined },
    tsconfig: join(folder, 'tsconfig.json'),
    onLog(level, log) {
      if (level !== 'debug' && level !== 'info') throw new Error(`${name}: ${log.message}`)
    },
  })
  const { output } = await build.generate({
    dir: join(folder, 'dist'),
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    minifyInternalExports: false,
    comments: { annotation: true, jsdoc: false, legal: true },
    codeSplitting: {
      groups: [
        { name: 'announce', test: aside, priority: 3 },
        { name: 'threads', test: threads, priority: 3 },
        { name: 'sqlite', test: sqliteWorker, priority: 3 },
        { name: 'looking', test: neutral, priority: 3 },
        { name, test: (id) => !own.has(id) && ![prometheus, opentelemetry, simulation].some((needs) => needs.test(id)), priority: 2 },
        // Last, for a group takes along what its files import, and nobody else may come to need their libraries by that.
        { name: 'prom', test: prometheus, priority: 1 },
        { name: 'otel', test: opentelemetry, priority: 1 },
        { name: 'simulation', test: simulation, priority: 1 },
      ],
    },
  })
  await build.close()
  const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]))
  if (existsSync(join(folder, 'page', 'index.html'))) for (const [file, text] of await pageFiles(folder)) files.set(file, text)
  for (const [file, text] of files) put(join(folder, 'dist', file), text)
  // What an earlier build left would be packed along.
  for (const file of readdirSync(join(folder, 'dist'), { recursive: true }))
    if (/\.js(\.map)?$/.test(file) && !files.has(file.replaceAll('\\', '/'))) rmSync(join(folder, 'dist', file))
}

/** In one step, for another process may be reading it. */
function put(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) return
  } catch {}
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
}
