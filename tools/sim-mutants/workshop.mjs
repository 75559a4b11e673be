// A copy of the sources in a temporary folder, where mutants are made, compiled and simulated. The tree itself is never
// written to.

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const tsc = join(root, 'node_modules/typescript/bin/tsc')

export class Workshop {
  /** `border`: what is mutated is `@troupe/border` and the threads of `@troupe/node`, and its scenarios are simulated alone. */
  constructor({ border = false } = {}) {
    this.border = border
    this.at = border ? 'packages' : 'packages/core/src'
    this.folder = mkdtempSync(join(tmpdir(), 'troupe-mutants-'))
    const skip = (path) => !/node_modules|\/dist(-\w+)?(\/|$)|\.test\.ts$/.test(path.slice(root.length))
    for (const name of border ? ['core', 'testkit', 'border', 'node'] : ['core', 'testkit'])
      cpSync(join(root, 'packages', name), join(this.folder, 'packages', name), { recursive: true, filter: skip })
    cpSync(join(root, 'tsconfig.base.json'), join(this.folder, 'tsconfig.base.json'))
    mkdirSync(join(this.folder, 'node_modules/@troupe'), { recursive: true })
    symlinkSync(join(this.folder, 'packages/core'), join(this.folder, 'node_modules/@troupe/core'))
    symlinkSync(join(this.folder, 'packages/testkit'), join(this.folder, 'node_modules/@troupe/testkit'))
    if (border) {
      for (const name of ['border', 'node']) symlinkSync(join(this.folder, 'packages', name), join(this.folder, 'node_modules/@troupe', name))
      for (const name of ['@types', 'undici-types', 'ws']) symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name))
    }
    if (!this.#compile(border ? 'node/tsconfig.sim.json' : 'testkit')) throw new Error('The sources do not compile as they are.')
    this.sources = new Map()
  }
  /** A source file of what is mutated, as it is in the tree. */
  source(file) {
    if (!this.sources.has(file)) this.sources.set(file, readFileSync(join(this.folder, this.at, file), 'utf8'))
    return this.sources.get(file)
  }
  /** Whether it compiles with this file so changed; it stays changed until `restore`. */
  mutate(file, text) {
    this.source(file)
    writeFileSync(join(this.folder, this.at, file), text)
    return this.#compile(this.border ? 'node' : 'core')
  }
  restore(file) {
    writeFileSync(join(this.folder, this.at, file), this.source(file))
  }
  #compile(name) {
    return spawnSync(process.execPath, [tsc, '-b', join(this.folder, 'packages', name)], { cwd: this.folder, stdio: 'ignore' }).status === 0
  }
  /** Simulates the library from a seed on, until the first violation, for `ms` at most. */
  simulate(seeds, start, ms) {
    return new Promise((done) => {
      const child = spawn(
        process.execPath,
        [
          join(this.folder, 'packages/testkit/dist/cli.js'),
          '--seeds',
          String(seeds),
          '--start',
          String(start),
          '--stop-at-first',
          '--json',
          ...(this.border ? ['--with', join(this.folder, 'packages/node/dist-sim/index.js'), '--alone'] : []),
        ],
        { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      let out = ''
      let err = ''
      child.stdout.on('data', (d) => (out += d))
      child.stderr.on('data', (d) => (err += d))
      // Asked to, it ends its own processes too, and reports what it has. Being late is no hang: a run without end is a violation.
      const timer = setTimeout(() => child.kill('SIGTERM'), ms)
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        try {
          const report = JSON.parse(out)
          const failure = report.failures[0]
          if (failure === undefined) done({ how: 'survived', runs: report.runs })
          else
            done({
              how: 'violation',
              runs: report.runsBefore,
              scenario: failure.scenario,
              invariant: failure.violation.invariant,
              text: failure.violation.text,
              steps: failure.shrunkSteps,
              found: failure.steps,
            })
        } catch {
          done({ how: 'crash', text: err.split('\n').find((l) => /Error/.test(l)) ?? `exit ${signal ?? code}` })
        }
      })
    })
  }
  close() {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
