import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Crew, type Outcome } from './crew.ts'
import { Progress } from './progress.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-crew-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const member = join(folder, 'member.mjs')
writeFileSync(
  member,
  `process.on('message', (n) => {
     if (n === 13) { process.stderr.write('cannot count to 13'); process.exit(7) }
     if (n === 14) for (;;);
     process.send(n * 10)
   })
   process.on('disconnect', () => process.exit())`,
)

/** Has a crew work off numbers, and says what became of each. */
async function work(numbers: number[], size: number, heard?: (crew: Crew<number, number>, n: number) => void): Promise<Map<number, Outcome<number>>> {
  const outcomes = new Map<number, Outcome<number>>()
  const crew = new Crew<number, number>(member)
  const left = [...numbers].reverse()
  await crew.work(
    size,
    () => left.pop(),
    (n, outcome) => {
      outcomes.set(n, outcome)
      heard?.(crew, n)
    },
  )
  return outcomes
}

test('every block is worked off once, by as many processes as there are', async () => {
  const outcomes = await work([1, 2, 3, 4, 5], 2)
  expect([...outcomes].toSorted(([a], [b]) => a - b)).toEqual([1, 2, 3, 4, 5].map((n) => [n, { type: 'done', result: n * 10 }]))
})

test('a process that dies is replaced, and its last words are told', async () => {
  const outcomes = await work([1, 13, 2], 1)
  expect(outcomes.get(13)).toEqual({ type: 'died', how: 'exit code 7', lastWords: 'cannot count to 13' })
  expect(outcomes.get(2)).toEqual({ type: 'done', result: 20 })
})

test('a stop ends also those that never come back', async () => {
  const outcomes = await work([14, 1, 2], 2, (crew, n) => {
    if (n === 1) crew.stop()
  })
  expect([...outcomes.keys()]).toEqual([1])
})

test('without work nobody is hired', async () => {
  expect((await work([], 3)).size).toBe(0)
})

test('progress is one line that changes on a terminal, and elsewhere a line after one second and then every five', () => {
  const shown = (isTTY: boolean): string[] => {
    const lines: string[] = []
    let n = 0
    const progress = new Progress({ isTTY, columns: 40, write: (text) => void lines.push(text) }, 0, () => `${++n} of many`)
    for (let now = 0; now <= 6_000; now += 100) progress.show(now)
    progress.end()
    return lines
  }
  expect(shown(false)).toEqual(['1 of many\n', '2 of many\n'])
  const terminal = shown(true)
  expect(terminal.slice(0, 2)).toEqual(['\r\x1b[2K1 of many', '\r\x1b[2K2 of many'])
  expect(terminal).toHaveLength(31)
  expect(terminal.at(-1)).toBe('\r\x1b[2K')
})
