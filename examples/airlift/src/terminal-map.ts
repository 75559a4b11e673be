// The sky as text: eight drones fit into one letter of Braille. Each letter has the colour of what most of its drones do.

import { phases, type Sky } from './sky.ts'
import { height, width } from './world.ts'

/** Lines of letters, with the phase of each letter as a digit in a second text. */
export interface TerminalMap {
  readonly letters: readonly string[]
  readonly phases: readonly string[]
}

/** The dot of a letter at a column (0, 1) and a row (0 to 3). */
const dots = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

export function terminalMap(sky: Sky, columns: number, rows: number, now: number): TerminalMap {
  const bits = new Uint8Array(columns * rows)
  const tally = new Uint16Array(columns * rows * phases.length)
  for (let drone = 0; drone < sky.phase.length; drone++) {
    const { x, y } = sky.at(drone, now)
    const dotX = Math.min(2 * columns - 1, Math.max(0, Math.floor((x / width) * 2 * columns)))
    const dotY = Math.min(4 * rows - 1, Math.max(0, Math.floor((y / height) * 4 * rows)))
    const cell = (dotY >> 2) * columns + (dotX >> 1)
    bits[cell]! |= dots[(dotX & 1) * 4 + (dotY & 3)]!
    tally[cell * phases.length + sky.phase[drone]!]!++
  }
  const lines = Array.from({ length: rows }, (_, row) => row)
  const most = (cell: number): number => {
    let best = 0
    // Whoever lies down is seen among many that do not.
    for (let phase = 1; phase < phases.length; phase++) {
      const weight = phase >= 4 ? 8 : 1
      if (tally[cell * phases.length + phase]! * weight > tally[cell * phases.length + best]!) best = phase
    }
    return best
  }
  return {
    letters: lines.map((row) => String.fromCodePoint(...Array.from({ length: columns }, (_, i) => 0x28_00 + bits[row * columns + i]!))),
    phases: lines.map((row) => Array.from({ length: columns }, (_, i) => most(row * columns + i)).join('')),
  }
}
