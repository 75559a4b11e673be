// What the terminal shows: each node with the rooms that are on it, and the two sums that must be the same.

import type { Referee } from './referee.ts'
import type { RoomFacts, ScoreBoard } from './score-board.ts'
import { bold, dim, figure, green, red, right, yellow } from './screen.ts'
import type { NodeFacts, Troop } from './troop.ts'

/** Milliseconds without an answer after which a room is said to wait, and for which one that has moved is shown as new. */
const slow = 500
const fresh = 1500

const states: Readonly<Record<NodeFacts['state'], string>> = {
  starting: 'starting',
  up: 'up',
  paused: 'stands still',
  leaving: 'leaves',
  down: 'down',
}

export interface Moment {
  readonly now: number
  /** Since the beginning, in seconds. */
  readonly seconds: number
  /** Moves per second. */
  readonly rate: number
  readonly width: number
  readonly keys: boolean
}

export function picture(troop: Troop, board: ScoreBoard, referee: Referee, before: number, { now, seconds, rate, width, keys }: Moment): string[] {
  const waiting = [...board.rooms.values()].filter(({ heard }) => now - heard > slow).length
  const { lost } = referee
  const lines: string[] = ['']
  for (const { name, state } of troop.nodes) {
    const rooms = board.on(name)
    const paint = state === 'up' ? green : state === 'down' ? red : yellow
    const head = `  ${bold(name)}  ${paint(states[state].padEnd(12))} ${right(rooms.length, 3)} rooms  `
    const perLine = Math.max(1, Math.floor((width - 28) / 4))
    const cells = rooms.map((facts) => cell(facts, now))
    lines.push(head + cells.slice(0, perLine).join(' '))
    for (let at = perLine; at < cells.length; at += perLine) lines.push(' '.repeat(28) + cells.slice(at, at + perLine).join(' '))
  }
  if (troop.isAway) lines.push(red('  NATS is away: nothing moves, nobody is declared gone, moves wait'))
  lines.push(
    dim(`     rooms: ${cellText('07')} answers   `) +
      yellow(cellText('07')) +
      dim(' has just come here   ') +
      red(cellText('07')) +
      dim(' no answer yet'),
  )
  lines.push('')
  lines.push(`  acknowledged ${right(board.acknowledged, 9)}   ${dim(`${figure(rate)} moves per second, ${seconds.toFixed(0)} s`)}`)
  lines.push(`  in journal   ${right(referee.found - before, 9)}   ${dim('as many, and what nobody has been told of yet')}`)
  lines.push(
    `  lost ${lost === 0 ? green('0') : red(figure(lost))}, doubled ${referee.doubled === 0 ? green('0') : red(figure(referee.doubled))}   ${dim(`rooms that wait ${waiting}, moves to other nodes ${figure(board.moved)}, longest silence ${(board.silence / 1000).toFixed(1)} s`)}`,
  )
  if (keys)
    lines.push(
      '',
      ...(troop.strikes.includes('kill')
        ? ['  keys: a b c  kill a node, or start it        n  takes NATS away', '        A B C  let it stand still, or go on    q  ends']
        : ['  keys: a b c  let a node leave, or start it   q  ends']
      ).map(dim),
    )
  return lines
}

const cellText = (name: string): string => name.padStart(3)

function cell({ name, heard, since, moves }: RoomFacts, now: number): string {
  const text = cellText(name)
  return now - heard > slow ? red(text) : moves > 0 && now - since < fresh ? yellow(text) : text
}

/** The same for where there is no terminal. */
export function oneLine(troop: Troop, board: ScoreBoard, referee: Referee, before: number, seconds: number): string {
  const places = troop.nodes.map(({ name, state }) => `${name} ${state === 'up' ? board.on(name).length : states[state]}`).join(', ')
  return `${right(seconds.toFixed(1), 7)} s   ${places}   acknowledged ${figure(board.acknowledged)}, in journal ${figure(referee.found - before)}, lost ${referee.lost}`
}
