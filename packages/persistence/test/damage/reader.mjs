// Reads journals by every query, and says for each what came of it, compared with what the undamaged one says. One line before and after each,
// so that it is known which one ended or hung the process.

import { readFileSync } from 'node:fs'
import { answersOf } from './queries.mjs'

const { paths, reference } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

for (const path of paths) {
  say({ begins: path })
  say({ path, ...compared(await answersOf(path)) })
}

function compared(answers) {
  if (answers.opened !== undefined) return { outcome: answers.opened.unexpected === undefined ? 'not opened' : 'crash', detail: answers.opened }
  const found = answers.verify !== 0
  const refusedBy = []
  const changed = []
  for (const [name, expected] of Object.entries(reference)) {
    if (name === 'verify') continue
    const answer = answers[name]
    if (answer?.unexpected !== undefined) return { outcome: 'crash', detail: `${name}: ${answer.unexpected}` }
    if (answer?.refused !== undefined) refusedBy.push(name)
    else if (answer !== expected) changed.push(name)
  }
  if (answers.verify?.unexpected !== undefined) return { outcome: 'crash', detail: `verify: ${answers.verify.unexpected}` }
  const wrong = changed.filter((name) => name.startsWith('state '))
  if (wrong.length > 0) return { outcome: 'wrong state', detail: wrong }
  if (changed.length > 0) return { outcome: found ? 'found by verify' : 'missed', detail: changed }
  if (refusedBy.length > 0) return { outcome: 'refused when read', verify: found, detail: refusedBy.length }
  return { outcome: found ? 'harmless, found by verify' : 'harmless' }
}
