// Which parts of some modules a piece of work runs through, as the engine counts it: by characters of code, since a block has no other size.

import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

/** Runs `work`, and returns for each module how much of it ran, and the first lines of what did not. */
export async function coverageOf(modules, work) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  return modules.map((url) => {
    const source = readFileSync(fileURLToPath(url), 'utf8')
    const ran = new Uint8Array(source.length).fill(1)
    const functions = result.find((script) => script.url === url)?.functions ?? []
    // Outer ranges come first, inner ones correct them.
    const ranges = functions.flatMap((f) => f.ranges).toSorted((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset))
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
    const missed = []
    let total = 0
    let covered = 0
    let offset = 0
    for (const [i, line] of source.split('\n').entries()) {
      const code = [...line.matchAll(/[^\s}]/g)].some(({ index }) => ran[offset + index] === 0)
      if (/\S/.test(line) && !/^\s*(\/\/|\/?\*)/.test(line)) {
        total++
        if (code) missed.push(`${i + 1}: ${line.trim()}`)
        else covered++
      }
      offset += line.length + 1
    }
    return { name: url.slice(url.lastIndexOf('/') + 1), total, covered, missed }
  })
}
