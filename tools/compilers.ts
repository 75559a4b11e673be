// The compilers that those who use Troupe may have: the project's own, the last of the line before it, and the oldest
// that is promised to work. The old ones are packages of their own in tools/compilers: installed beside the project's
// under another name, they would take its place as `tsc`.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './markdown.ts'

export type Compiler = '5.4' | '5.9' | '7'

function commandOf(compiler: Compiler): string {
  const folder = join(root, compiler === '7' ? '.' : `tools/compilers/${compiler}`, 'node_modules/typescript')
  const { bin, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { tsc: string }; version: string }
  if (!version.startsWith(`${compiler}.`)) throw new Error(`${folder} is TypeScript ${version}, not ${compiler}. Run npm install.`)
  return join(folder, bin.tsc)
}

/** What the compiler prints; nothing where it finds nothing wrong. */
export function tsc(compiler: Compiler, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [commandOf(compiler), ...args, '--pretty', 'false'], { cwd: root, timeout: 150_000 }, (error, stdout, stderr) => {
      if (error !== null && (error.killed === true || stdout === ''))
        reject(new Error(`tsc ${compiler} ${args.join(' ')}: ${error.message}\n${stderr}`))
      else resolve(stdout.trim())
    })
  })
}

/** A folder that finds the packages as a user's would; of this run alone, and gone with it. */
export class Project {
  readonly folder: string
  constructor(files: Readonly<Record<string, string>>) {
    const shelf = join(root, 'tools', '.doc-examples')
    mkdirSync(shelf, { recursive: true })
    this.folder = mkdtempSync(join(shelf, 'project-'))
    this.write('package.json', '{ "type": "module" }')
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }
  write(name: string, text: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, text)
    return path
  }
  /** Compiles all of it with these options; `name` keeps several runs apart. */
  compile(compiler: Compiler, name: string, compilerOptions: object): Promise<string> {
    return tsc(compiler, '-p', this.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] })))
  }
  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Whether nothing that the packages are made of has changed since all of it was built. */
function isBuilt(): boolean {
  const stamp = statSync(join(root, 'tools/.built'), { throwIfNoEntry: false })
  if (stamp === undefined) return false
  const made = new Set(['dist', 'dist-test', 'dist-sim', 'node_modules'])
  const older = (path: string): boolean => {
    const found = statSync(path)
    if (!found.isDirectory()) return found.mtimeMs < stamp.mtimeMs
    return readdirSync(path).every((name) => made.has(name) || name.endsWith('.tsbuildinfo') || older(join(path, name)))
  }
  return ['packages', 'tools/bundle.mjs', 'tsconfig.base.json'].every((path) => older(join(root, path)))
}

/** So that the packages are those of the sources, whoever runs the test. */
export function buildPackages(): Promise<void> {
  if (isBuilt()) return Promise.resolve()
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(root, 'tools/build.mjs')], { cwd: root, timeout: 150_000 }, (error, stdout, stderr) =>
      error === null ? resolve() : reject(new Error(stdout + stderr)),
    )
  })
}
