// Which test files depend on real time: they, or what they import of the tests beside them, start a process, a thread or a browser, set a timer of
// the host, or run a system on the host's clock. Found by reading, so a file too many is possible: repeating it costs time and nothing else.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './run-vitest.mjs'

const testFile = /^(?:(?:packages|examples)\/[^/]+\/(?:src|test)\/(?!.*node_modules).*|tools\/[^/]+)\.test\.ts$/
const realTime =
  /node:child_process|node:worker_threads|playwright-core|timers\/promises|\bsetTimeout\(|\bsetInterval\(|\bthreads\(|ActorSystem\.create\(/
const imports = /(?:from|import)\s*\(?\s*'(\.[^']*)'/g
/** Sources of packages are used on virtual time as well; what makes a test real is in the tests. */
const isSource = /^packages\/[^/]+\/src\/(?!.*\.test\.ts$)/

/** Paths below the root of the repository, sorted. */
export function realTimeFiles() {
  const known = new Map()
  return ['packages', 'examples', 'tools']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${path.replaceAll('\\', '/')}`))
    .filter((path) => testFile.test(path) && isReal(path, known))
    .toSorted()
}

function isReal(path, known) {
  const answer = known.get(path)
  if (answer !== undefined) return answer
  // A cycle of imports adds nothing.
  known.set(path, false)
  const text = isSource.test(path) || !existsSync(join(root, path)) ? '' : readFileSync(join(root, path), 'utf8')
  const found =
    realTime.test(text) ||
    [...text.matchAll(imports)].some(([, to]) => isReal(relative(root, join(root, dirname(path), to)).replaceAll('\\', '/'), known))
  known.set(path, found)
  return found
}
