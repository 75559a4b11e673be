// A copy of the sources in a temporary folder, where mutants are made, compiled and simulated. The tree itself is never
// written to.

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const build = join(root, 'tools/build.mjs')

export class Workshop {
  /**
   * `of`: what is mutated is another package, with its scenarios alone: `@troupe/border` and the threads of `@troupe/node`,
   * `@troupe/persistence`, or `@troupe/cluster`.
   */
  constructor({ of } = {}) {
    this.package = of === 'border' ? 'node' : of
    const more =
      { border: ['border', 'node'], persistence: ['sqlite', 'persistence'], cluster: ['border', 'sqlite', 'persistence', 'cluster'] }[of] ??
      (of === undefined ? [] : [of])
    this.at = of === undefined ? 'packages/core/src' : 'packages'
    this.folder = mkdtempSync(join(tmpdir(), 'troupe-mutants-'))
    const skip = (path) => !/node_modules|\/dist(-\w+)?(\/|$)|\.test\.ts$/.test(path.slice(root.length))
    for (const name of ['core', 'observer', 'testkit', ...more])
      cpSync(join(root, 'packages', name), join(this.folder, 'packages', name), { recursive: true, filter: skip })
    cpSync(join(root, 'tsconfig.base.json'), join(this.folder, 'tsconfig.base.json'))
    mkdirSync(join(this.folder, 'node_modules/@troupe'), { recursive: true })
    symlinkSync(join(this.folder, 'packages/core'), join(this.folder, 'node_modules/@troupe/core'))
    for (const name of ['observer', 'testkit']) symlinkSync(join(this.folder, 'packages', name), join(this.folder, 'node_modules/@troupe', name))
    // What those and their tests need of others.
    for (const name of readdirSync(join(root, 'node_modules')))
      if (name !== '@troupe' && !name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name))
    if (of !== undefined) {
      for (const name of more) symlinkSync(join(this.folder, 'packages', name), join(this.folder, 'node_modules/@troupe', name))
      cpSync(join(root, 'vitest.config.ts'), join(this.folder, 'vitest.config.ts'))
      // Tests find PostgreSQL by these.
      symlinkSync(join(root, 'tools'), join(this.folder, 'tools'))
    }
    if (!this.#compile(of === undefined ? 'testkit' : `${this.package}/tsconfig.sim.json`)) throw new Error('The sources do not compile as they are.')
    this.sources = new Map()
    this.tests = new Map()
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
    return this.#compile(this.package ?? 'core')
  }
  restore(file) {
    writeFileSync(join(this.folder, this.at, file), this.source(file))
  }
  #compile(name) {
    return spawnSync(process.execPath, [build, '--root', this.folder, join('packages', name)], { stdio: 'ignore' }).status === 0
  }
  /** Runs a named test on what is mutated; one that fails on the sources as they are proves nothing. */
  test({ file, name }) {
    const key = `${file} ${name}`
    if (!this.tests.has(key)) {
      const text = readFileSync(join(root, file), 'utf8')
      if (!text.includes(name)) throw new Error(`There is no test "${name}" in ${file} any more.`)
      this.tests.set(key, text)
      writeFileSync(join(this.folder, file), text)
    }
    const run = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', file, '-t', name], {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    })
    const ran = /Tests\s.*\d+ (passed|failed)/.test(run.stdout)
    return ran ? (run.status === 0 ? 'passes' : 'fails') : 'does not run'
  }
  /** Simulates the library, or one scenario of it, from a seed on, until the first violation, for `ms` at most. */
  simulate(seeds, start, ms, scenario) {
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
          ...(scenario === undefined ? [] : ['--scenario', scenario]),
          ...(this.package === undefined ? [] : ['--with', join(this.folder, `packages/${this.package}/dist-sim/index.js`), '--alone']),
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
