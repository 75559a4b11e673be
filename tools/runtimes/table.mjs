// The table of what was tried where: printed, and kept in docs/guide/runtimes.md between two marks. Rows of runtimes that were not run
// this time stay as they are.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './suites.mjs'

const page = join(root, 'docs/guide/runtimes.md')
const marks = ['<!-- npm run test:runtimes -- --write -->', '<!-- end -->']
const head = ['runtime', 'version', 'suite', 'passed', 'failed', 'skipped', 'note']

/** Systems of which nobody has said anything yet. */
const untried = [
  ['Windows', '', 'all', '', '', '', 'not tried'],
  ['macOS', '', 'all', '', '', '', 'not tried'],
]

export const notTried = (title, suite) => [title, '', suite, '', '', '', 'not tried']

const lineOf = (cells) => `| ${cells.join(' | ')} |`

export function tableOf(rows) {
  return [lineOf(head), lineOf(head.map((_, i) => (i > 2 && i < 6 ? '---:' : '---'))), ...rows.map(lineOf)].join('\n')
}

function rowsOf(text) {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
}

/** A page with rows put into its table; `places` are all runtimes and suites, in order, and one without a row was not tried. */
export function withTable(text, rows, places) {
  const [from, to] = [text.indexOf(marks[0]), text.indexOf(marks[1])]
  if (from < 0 || to < from) throw new Error(`The page has no place for the table: ${marks.join(' and ')} are missing.`)
  const kept = rowsOf(text.slice(from, to))
  const all = places.map(([title, suite]) => [...rows, ...kept].find((row) => row[0] === title && row[2] === suite) ?? notTried(title, suite))
  return `${text.slice(0, from)}${marks[0]}\n\n${tableOf([...all, ...untried])}\n\n${text.slice(to)}`
}

export function writeTable(rows, places) {
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), rows, places))
}
