// Which parts of some modules a piece of work runs through, as the engine counts it: by characters of code, since a block has no other size.
// The modules are parts of one file, where the bundler says by a comment which begins.

import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

/** Runs `work` with a fresh copy of a file, and returns for each module, given by the end of its path, how much of it ran, and the first lines of what did not. */
export async function coverageOf(url, modules, work) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  // Loaded from now on: of a file that was loaded before, functions that never run are not told of at all.
  const fresh = `${url}?looked`
  work(await import(fresh))
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const ran = new Uint8Array(source.length).fill(1)
  const functions = result.find((script) => script.url === fresh)?.functions
  if (functions === undefined) throw new Error(`nothing of ${url} ran`)
  // Outer ranges come first, inner ones correct them.
  const ranges = functions.flatMap((f) => f.ranges).toSorted((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset))
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  const found = new Map(modules.map((name) => [name, { name, total: 0, covered: 0, missed: [] }]))
  let current
  let offset = 0
  for (const line of source.split('\n')) {
    const begins = /^\/\/ (\S+\.ts)$/.exec(line)
    if (begins !== null) current = found.get(modules.find((name) => begins[1].endsWith(name)))
    if (current !== undefined && /\S/.test(line) && !/^\s*(\/\/|\/?\*)/.test(line)) {
      current.total++
      if ([...line.matchAll(/[^\s}]/g)].some(({ index }) => ran[offset + index] === 0)) current.missed.push(line.trim())
      else current.covered++
    }
    offset += line.length + 1
  }
  const lost = [...found.values()].find(({ total }) => total === 0)
  if (lost !== undefined) throw new Error(`${lost.name} is not in ${url}`)
  return [...found.values()]
}
