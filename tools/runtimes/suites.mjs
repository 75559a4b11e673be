// Which tests are run elsewhere, and in which of the four suites each file is. Every file of tests of these packages is in exactly one:
// what is not core and not I/O is threads, so a new file cannot be forgotten. Packages with drivers of their own, whose native parts are not
// bundled, are named apart, and files that drive a browser or use those packages are left out.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/**
 * Packages whose tests run on this Node only: they need drivers or servers, or load modules of a user, whose core would be a second one
 * beside that of the bundle.
 */
export const apart = new Set(['cli', 'cluster', 'create', 'persistence'])

export const suiteNames = ['core', 'threads', 'io', 'journal']

/** Of a package that is apart: the contract of the journal that runs everywhere. */
const journal = 'packages/persistence/test/sqlite.test.ts'

/** Files of packages/node/test that are about sockets, files, processes and HTTP; those beside the sources say so by their folder. */
export const ioNames = new Set(
  'adopt bad-options content-length descriptors echo edges half-close hostile http http-garbage misuse readiness resources tcp tls udp upload'.split(
    ' ',
  ),
)

/** The suite of a file, by its path from the root with slashes. */
export function suiteOf(path) {
  if (path === journal || path.startsWith('packages/sqlite/')) return 'journal'
  if (/^packages\/(core|testkit)\//.test(path)) return 'core'
  const [, name] = /^packages\/node\/test\/([^/]+)\.test\.ts$/.exec(path) ?? []
  return path.startsWith('packages/node/src/io/') || ioNames.has(name) ? 'io' : 'threads'
}

/** A page is driven from this Node only: which runtime drives the browser says nothing about either; and drivers are not bundled. */
const staysHere = (path) => /from '(playwright-core|@troupe\/(cluster|persistence))'/.test(readFileSync(join(root, path), 'utf8'))

/** All files of tests that run elsewhere, as paths from the root, in order. */
export function testFiles() {
  const files = []
  for (const pkg of readdirSync(join(root, 'packages')).filter((name) => !apart.has(name)))
    for (const part of ['src', 'test']) {
      const folder = `packages/${pkg}/${part}`
      let entries = []
      try {
        entries = readdirSync(join(root, folder), { recursive: true })
      } catch (cause) {
        if (cause.code !== 'ENOENT') throw cause
      }
      for (const entry of entries) if (entry.endsWith('.test.ts')) files.push(`${folder}/${entry.replaceAll('\\', '/')}`)
    }
  return [...files.filter((path) => !staysHere(path)), journal].toSorted()
}
