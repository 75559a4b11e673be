// The referee notices what it must, and a short evening: in one process, and on NATS where it is found, with kills and pauses. Run `npm run build` first;
// `npm test` does.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Referee } from './referee.ts'
import { accepts, empty, type Move, play } from './room.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')

const move = (player: string, n: number, steps: number): Move => ({ player, n, steps })

test('who is caught goes home, and who reaches the goal begins the next game', () => {
  const caught = [move('p1', 1, 6), move('p2', 1, 6)].reduce(play, empty)
  expect(caught).toEqual({ game: 1, fields: { p2: 6 }, numbers: { p1: 1, p2: 1 }, wins: {} })
  expect([move('p2', 2, 6), move('p2', 3, 6), move('p2', 4, 2)].reduce(play, caught)).toEqual({
    game: 2,
    fields: {},
    numbers: { p1: 1, p2: 4 },
    wins: { p2: 1 },
  })
})

test('the referee notices moves that are doubled or missing, and a room that says something else', () => {
  const judge = (...moves: readonly Move[]): Referee => {
    const referee = new Referee()
    for (const one of moves) referee.take('1', one)
    return referee
  }
  expect(judge(move('p1', 1, 3), move('p2', 1, 2), move('p1', 2, 1))).toMatchObject({ problems: [], doubled: 0, found: 3 })
  expect(judge(move('p1', 1, 3), move('p1', 1, 3))).toMatchObject({ problems: ['room 1: move 1 of p1 comes after 1'], doubled: 1 })
  expect(judge(move('p1', 1, 3), move('p1', 3, 3))).toMatchObject({ problems: ['room 1: move 3 of p1 comes after 1'], doubled: 0 })
  const referee = judge(move('p1', 1, 3))
  referee.compare('1', play(empty, move('p1', 1, 3)))
  expect(referee.problems).toEqual([])
  referee.compare('1', play(empty, move('p1', 1, 4)))
  expect(referee.problems).toEqual(['room 1 says something else than its events'])
})

test('what is acknowledged and not in the journal is lost', async () => {
  const referee = new Referee()
  const journal = { async *events(): AsyncGenerator<never> {} }
  await referee.audit(journal as never, new Map([['1', new Map([['p1', 2]])]]))
  expect(referee.lost).toBe(2)
  for (const n of [1, 2]) referee.take('1', move('p1', n, 1))
  await referee.audit(journal as never, new Map([['1', new Map([['p1', 2]])]]))
  expect(referee.lost).toBe(0)
})

test('rooms take moves and looks, and nothing else', () => {
  const isTaken = (value: unknown): boolean => !('issues' in (accepts['~standard'].validate(value) as object))
  expect([{ type: 'look' }, { type: 'move', player: 'p1', n: 1, steps: 6 }].map(isTaken)).toEqual([true, true])
  expect([null, 5, { type: 'move' }, { type: 'move', player: 'p1', n: 1.5, steps: 6 }, { type: 'erase' }].map(isTaken)).toEqual(Array(5).fill(false))
})

interface Evening {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}
function evening(...args: readonly string[]): Promise<Evening> {
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { timeout: 100_000 }, (_failure, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    )
  })
}

const nothingLost = /✓ acknowledged ([\d,]+), found \1, lost 0, doubled 0; [1-9]\d* strikes/

test.concurrent('nodes of one process that leave and come back while people play lose nothing', { timeout: 120_000 }, async () => {
  const { status, stdout, stderr } = await evening('--engine', 'memory', '--chaos', '--strikes', '1', '--lease', '1000')
  expect(stderr).toBe('')
  expect(stdout).toMatch(nothingLost)
  expect(status).toBe(0)
})

test.skipIf(found === undefined).concurrent('processes that are killed and paused while people play lose nothing', { timeout: 120_000 }, async () => {
  // With this seed b is paused for longer than its lease, and a is killed.
  const { status, stdout, stderr } = await evening('--engine', 'nats', '--chaos', '--strikes', '2', '--lease', '1500', '--seed', '7476')
  expect(stderr).toBe('')
  expect(stdout).toMatch(/ stands still[^]* is killed/)
  expect(stdout).toMatch(nothingLost)
  expect(status).toBe(0)
})
