// The packages as a stranger has them: packed, and installed from the tarballs into an empty project that is not below this repository.
// Nothing is fetched: what our packages depend on is packed from what is installed here.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Compiler, tsc } from './compilers.ts'
import { root } from './markdown.ts'

interface Manifest {
  readonly private?: boolean
  readonly exports: Readonly<Record<string, unknown>>
  /** Whom it can do without, among others. */
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
}

export function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest
}

/** The folders of what is published. */
export const packages: readonly string[] = readdirSync(join(root, 'packages')).filter((name) => manifestOf(name).private !== true)

/** What can be imported of a package, but for what is a program that runs by itself, or data. */
export function entriesOf(name: string): readonly string[] {
  const { exports } = manifestOf(name)
  return Object.keys(exports)
    .filter((path) => exports[path] !== null && !/\*|\.json$|^\.\/worker$/.test(path))
    .map((path) => `@troupe/${name}${path.slice(1)}`)
}

export interface Ended {
  readonly ok: boolean
  readonly out: string
  readonly err: string
}

/** Runs it to its end; the time is the limit of a hang. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
    execFile(command, args, { cwd, timeout: 100_000, env, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) =>
      resolve({ ok: error === null, out, err: error?.killed === true ? `It did not end.\n${err}` : err }),
    )
  })
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { ok, out, err } = await run('npm', args, cwd)
  if (!ok) throw new Error(`npm ${args.join(' ')}: ${out}${err}`)
  return out
}

type Wants = Readonly<Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', object | undefined>>

const wantsOf = (folder: string): Wants => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Wants

/** Where a package is that another one wants; ours are packed as they are, and one for another platform is not here. */
function placeOf(name: string, folder: string): string | undefined {
  if (name.startsWith('@troupe/')) return undefined
  return [`${folder}/node_modules/${name}`, `./node_modules/${name}`].find((at) => existsSync(join(root, at)))
}

/** Folders of what packages depend on, and what that depends on, as it is installed here. */
export function needed(folders: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const visit = (folder: string): void => {
    const { dependencies, optionalDependencies } = wantsOf(folder)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(name, folder)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      visit(place)
    }
  }
  for (const folder of folders) visit(folder)
  return [...found]
}

/** Folders of what users bring for some entries of ours, as peers, but for types, which a test of their own adds. */
function brought(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    Object.keys({ ...wantsOf(folder).peerDependencies })
      .filter((name) => !name.startsWith('@types/'))
      .flatMap((name) => placeOf(name, folder) ?? []),
  )
}

export class Installed {
  /** The project of the stranger. */
  readonly folder: string
  /** What is in each tarball. */
  readonly contents: ReadonlyMap<string, readonly string[]>
  readonly #top: string
  /** Where each package is, as a dependency of a project that is a folder below `top`. */
  readonly #tarballs: Readonly<Record<string, string>>
  private constructor(top: string, contents: Installed['contents'], tarballs: Readonly<Record<string, string>>) {
    this.#tarballs = tarballs
    this.#top = top
    this.folder = join(top, 'project')
    this.contents = contents
  }

  /** Packs and installs, once for all tests. */
  static async make(): Promise<Installed> {
    const top = mkdtempSync(join(tmpdir(), 'troupe-installed-'))
    const tarballs = join(top, 'tarballs')
    mkdirSync(tarballs)
    const own = packages.map((name) => `./packages/${name}`)
    const drivers = brought(own)
    const what = [...new Set([...own, ...needed(own), ...drivers, ...needed(drivers)])]
    const packed = JSON.parse(await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', tarballs, ...what], root)) as unknown
    // From npm 12 on by name, before that in a list.
    const list = Object.values(packed as object) as { name: string; filename: string; files: { path: string }[] }[]
    const dependencies = Object.fromEntries(list.map(({ name, filename }) => [name, `file:../tarballs/${filename.replace(/^@(.*)\//, '$1-')}`]))
    const installed = new Installed(top, new Map(list.map(({ name, files }) => [name, files.map((f) => f.path)])), dependencies)
    installed.write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module', dependencies }))
    await npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], installed.folder)
    return installed
  }
  /** The types of Node, which are an optional peer: present from here on. */
  addNodeTypes(): void {
    mkdirSync(join(this.folder, 'node_modules/@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name), 'junction')
  }
  write(name: string, text: string): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }
  /** Compiles the files of one folder of the project; what the compiler says. */
  compile(compiler: Compiler, folder: string, name: string, compilerOptions: object): Promise<string> {
    return tsc(compiler, '-p', this.#configured(folder, name, compilerOptions))
  }
  /** The same for several of them, one after the other in one process of the compiler, which reads the libraries once. */
  compileAll(compiler: Compiler, jobs: readonly (readonly [folder: string, name: string, compilerOptions: object])[]): Promise<string> {
    return tsc(compiler, '-b', '--force', ...jobs.map((job) => this.#configured(...job)))
  }
  #configured(folder: string, name: string, compilerOptions: object): string {
    const config = { compilerOptions: { rootDir: '.', ...compilerOptions }, include: ['*.ts'] }
    return this.write(`${folder}/tsconfig.${name}.json`, JSON.stringify(config))
  }
  /**
   * Installs what a project beside this one asks for: ours from the tarballs, with what they need; what it is developed with is linked from
   * here. Fails where it asks for what is not there.
   */
  async installInto(folder: string): Promise<void> {
    const file = join(folder, 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>
    const asked = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    const linked = asked.filter((name) => this.#tarballs[name] === undefined)
    for (const name of asked.filter((one) => one.startsWith('@troupe/'))) if (linked.includes(name)) throw new Error(`${name} is not packed.`)
    const dependencies = Object.fromEntries(Object.entries(this.#tarballs).map(([name, at]) => [name, at.replace('file:..', `file:${this.#top}`)]))
    writeFileSync(file, JSON.stringify({ ...manifest, dependencies, devDependencies: {} }))
    await npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], folder)
    for (const name of [...linked, 'undici-types']) {
      mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
    }
  }
  /** Runs a program of the project with this Node. */
  node(...args: readonly string[]): Promise<Ended> {
    return run(process.execPath, args, this.folder)
  }
  /** A folder beside the project, in which nothing is installed. */
  elsewhere(name: string): string {
    const folder = join(this.#top, name)
    mkdirSync(folder, { recursive: true })
    return folder
  }
  installedFiles(name: string): string[] {
    return readdirSync(join(this.folder, 'node_modules', name), { recursive: true, encoding: 'utf8' })
  }
  [Symbol.dispose](): void {
    rmSync(this.#top, { recursive: true, force: true })
  }
}
