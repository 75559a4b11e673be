// One word, one meaning: these had several once, and whoever read a file had to know which was meant. Each is declared in one place of the
// packages at most. Whoever needs a second meaning needs another word.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const words = ['Passage', 'Channel', 'Link', 'Step', 'Received', 'EndReason', 'Ledger', 'Way', 'Alarm']

const sources = readdirSync(join(root, 'packages')).flatMap((name) =>
  readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join('packages', name, 'src', file)),
)
const texts = sources.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)

test.each(words)('%s means one thing', (word) => {
  const declared = new RegExp(`^(?:export )?(?:abstract )?(?:class|interface|type|enum) ${word}\\b`, 'm')
  const places = texts.filter(([, text]) => declared.test(text)).map(([file]) => file)
  expect(places).toHaveLength(1)
})
