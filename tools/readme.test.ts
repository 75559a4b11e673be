// Figures of the README are those of the report: each cell of its table, and how many budgets are missed.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cellsOf)

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const report = readFileSync(join(root, 'bench/report/report.md'), 'utf8')
const numbers = /^## Numbers\n([\s\S]*?)^## /m.exec(readme)![1]!

test('each figure of the README is in the report', () => {
  const [head = [], ...rows] = rowsOf(numbers)
  const sides = head.slice(1).map((side) => (side === 'raw JavaScript' ? 'raw' : side))
  const measured = rowsOf(report)
  const figures = rows.flatMap(([name, ...cells]) => cells.map((cell, i) => [name!, sides[i]!, cell] as const)).filter(([, , cell]) => cell !== '')
  expect(figures.length).toBeGreaterThan(20)
  const there = (name: string, side: string): string | undefined => measured.find(([n, s]) => n === name && s === side)?.[3]
  expect(figures.map(([name, side]) => `${name}, ${side}: ${there(name, side)}`)).toEqual(
    figures.map(([name, side, cell]) => `${name}, ${side}: ${cell}`),
  )
})

test('how many budgets are missed is said as the report says it', () => {
  const [, missed, of] = /\*\*(\d+) missed\*\*, of (\d+)/.exec(report)!
  expect(numbers).toContain(`${missed} of the ${of} budgets in that report are missed`)
})
