// Every ```ts block of every page is compiled as a user would compile it, and run, each in a process of its own, against
// the built packages. A line number in an error is the line in the page.
//
//   ```ts              compiled and run; it must end by itself
//   ```ts continued    the blocks before it on the page, back to the last one without this word, come first
//   ```ts no-run       compiled only, for what needs a network or shows half a program
//   ```ts ignore       neither; for code that is meant to be wrong, or of another library
//
// Where a block has comments `// → text`, what it prints must be those texts, in that order.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackages } from './compilers.ts'
import { type CodeBlock, pagePaths, readPage, root } from './markdown.ts'

interface Example {
  readonly name: string
  readonly file: string
  readonly source: string
  readonly runs: boolean
  readonly expected: readonly string[]
}

const words = new Set(['ts', 'continued', 'no-run', 'ignore'])
/** Of this run alone: another in the same tree has its own. In the tree, for that is where packages are found. */
const shelf = join(root, 'tools', '.doc-examples')
mkdirSync(shelf, { recursive: true })
const scratch = mkdtempSync(join(shelf, 'run-'))
const examples = pagePaths().flatMap(examplesOf)
let diagnostics = ''

function examplesOf(path: string): Example[] {
  const found: Example[] = []
  let chain: CodeBlock[] = []
  for (const block of readPage(path).blocks) {
    if (block.info[0] !== 'ts' || block.info.includes('ignore')) continue
    for (const word of block.info)
      if (!words.has(word)) throw new Error(`${path}:${block.line}: "${word}" means nothing here. There are ${[...words].join(', ')}.`)
    chain = block.info.includes('continued') ? [...chain, block] : [block]
    const lines: string[] = []
    for (const { line, code } of chain) {
      while (lines.length < line) lines.push('')
      lines.push(...code.split('\n'))
    }
    const source = `${lines.join('\n')}\nexport {}\n`
    found.push({
      name: `${path}:${block.line}`,
      file: `${path.replaceAll('/', '__').replace(/\.md$/, '')}.${block.line}`,
      source,
      runs: !block.info.includes('no-run'),
      expected: [...source.matchAll(/\/\/ → (.*)/g)].map((match) => match[1]!.trim()),
    })
  }
  return found
}

function run(script: string, args: readonly string[], timeout: number): Promise<{ ok: boolean; output: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [script, ...args],
      { cwd: root, timeout, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined } },
      (error, stdout, stderr) => {
        const why = error === null ? '' : error.killed === true ? `It did not end within ${timeout} ms.\n` : ''
        resolve({ ok: error === null, output: stdout, errors: why + stderr })
      },
    )
  })
}

beforeAll(async () => {
  await buildPackages()
  const config = {
    extends: '../../../tsconfig.base.json',
    compilerOptions: {
      composite: false,
      incremental: false,
      declaration: false,
      declarationMap: false,
      sourceMap: false,
      isolatedDeclarations: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      skipLibCheck: true,
      types: ['node'],
      rootDir: '.',
      outDir: 'out',
    },
    include: ['*.ts'],
    references: ['core', 'testkit', 'node', 'persistence', 'observer'].map((name) => ({ path: `../../../packages/${name}` })),
  }
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }')
  for (const { file, source } of examples) writeFileSync(join(scratch, `${file}.ts`), source)
  const folder = join(root, 'node_modules', 'typescript')
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { tsc: string } }
  diagnostics = (await run(join(folder, bin.tsc), ['-b', join(scratch, 'tsconfig.json'), '--pretty', 'false'], 150_000)).output
}, 320_000)

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** The compiler's words about one file, continuation lines included. */
function diagnosticsOf(file: string): string[] {
  const lines = diagnostics.split('\n')
  return lines.filter((_, i) => {
    let at = i
    while (at > 0 && /^\s/.test(lines[at]!)) at--
    return lines[at]!.includes(`${file}.ts(`)
  })
}

/** What was written to standard error, but for the log of a system whose actors fail as the page says: its lines, and those indented below them. */
function unlogged(errors: string): string {
  return errors.replaceAll(/^(?:warn|error) \[.*\n(?: {4}.*\n)*/gm, '')
}

test('the pages have examples, and what they use builds', () => {
  expect(examples.length).toBeGreaterThan(0)
  expect(diagnostics.split('\n').filter((line) => /error TS/.test(line) && !line.includes('.doc-examples'))).toEqual([])
})

describe.concurrent.each(examples)('$name', ({ file, runs, expected }) => {
  test('compiles', () => {
    expect(diagnosticsOf(file)).toEqual([])
  })
  test.runIf(runs)('runs, ends by itself, and prints what it says', async () => {
    const { ok, output, errors } = await run(join(scratch, 'out', `${file}.js`), [], 150_000)
    expect(unlogged(errors)).toBe('')
    expect(ok).toBe(true)
    expect(expected.length === 0 ? expected : output.trimEnd().split('\n')).toEqual(expected)
  })
})
