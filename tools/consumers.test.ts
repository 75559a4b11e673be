// What a stranger does with the packages: install them into an empty project, import every entry, run and type-check the example of the
// README with a compiler and settings of their own choice, and bundle it, threads included. Nothing of ours may be an error there, also
// where libraries are checked, and there is one core, whatever entries it is reached by.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackages, type Compiler } from './compilers.ts'
import { entriesOf, Installed, manifestOf, packages, run } from './installed.ts'
import { readPage, root } from './markdown.ts'

/** The first program of a page, and what it says that it prints. */
function exampleOf(page: string): { readonly code: string; readonly prints: string } {
  const { code } = readPage(page).blocks.find(({ info }) => info[0] === 'ts')!
  return { code, prints: [...code.matchAll(/\/\/ → (.*)/g)].map((match) => `${match[1]}\n`).join('') }
}
const readme = exampleOf('README.md')
const ofPackages = packages
  .filter((name) => readPage(`packages/${name}/README.md`).blocks.some(({ info }) => info[0] === 'ts' && !info.includes('no-run')))
  .map((name) => [name, exampleOf(`packages/${name}/README.md`)] as const)

const everything: Record<string, string> = {
  'index.ts': `
    import * as core from '@troupe/core'
    import * as testkit from '@troupe/testkit'
    export const all: readonly unknown[] = [core, testkit]`,
  // Needs the declarations of \`using\`, which the settings of the first test do not have.
  'using.ts': `
    import { ActorSystem, CancellationToken, TaskGroup } from '@troupe/core'
    import { createTestKit } from '@troupe/testkit'
    export async function run(): Promise<void> {
      await using system = ActorSystem.create('shop')
      await using kit = createTestKit()
      await using group = new TaskGroup()
      using token = new CancellationToken()
      void [system, kit, group, token]
    }`,
  // What is inferred must be the same for every compiler.
  'inferred.ts': `
    import { Actor, type ActorHandle, type ActorRef, ActorSystem, type Behavior, match, receive, same } from '@troupe/core'
    type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
    const is = <A>() => <B>(_value: B, _same: Same<A, B>): void => {}
    type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> }
    class Cart extends Actor {
      constructor(readonly currency: string) { super() }
      count(): number { return 1 }
    }
    class Plain extends Actor {}
    export async function run(system: ActorSystem, counter: Behavior<Counter>): Promise<void> {
      const ref = system.spawn(counter, { name: 'x' })
      is<ActorRef<Counter>>()(ref, true)
      is<ActorRef<Counter>>()(system.spawn(counter), true)
      is<ActorHandle<Cart>>()(system.spawn(Cart, { args: ['eur'] }), true)
      is<ActorHandle<Plain>>()(system.spawn(Plain), true)
      const expected: ActorRef<Counter> = system.spawn(match({ add: () => same, get: (_ctx, m) => m.replyTo.tell(1) }))
      const narrower: ActorRef<{ type: 'count'; args: [] }> = system.spawn(Cart, { args: ['eur'] })
      is<ActorRef<Counter>>()(system.spawn<Counter>(receive((_ctx, m) => void m.type)), true)
      is<number>()(await ref.ask({ type: 'get' }), true)
      is<number>()(await expected.ask((replyTo) => ({ type: 'get', replyTo })), true)
      is<number>()(await system.spawn(Cart, { args: ['eur'] }).ask.count(), true)
      void narrower
    }`,
}
const withNode: Record<string, string> = {
  'index.ts': [
    ...packages.flatMap(entriesOf).map((entry, i) => `import * as entry${i} from '${entry}'`),
    `export const all: readonly unknown[] = [${packages
      .flatMap(entriesOf)
      .map((_, i) => `entry${i}`)
      .join(', ')}]`,
  ].join('\n'),
}

let project: Installed
beforeAll(async () => {
  await buildPackages()
  project = await Installed.make()
  for (const [name, text] of Object.entries(everything)) project.write(`everything/${name}`, text)
  for (const [name, text] of Object.entries(withNode)) project.write(`with-node/${name}`, text)
  project.write('readme/main.ts', readme.code)
  for (const [name, { code }] of ofPackages) project.write(`readmes/${name}.ts`, code)
}, 180_000)
afterAll(() => project?.[Symbol.dispose]())

const strict = { target: 'ES2022', strict: true, noEmit: true, skipLibCheck: false }
const bare = { ...strict, module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2022'], types: [] }
const strictest = {
  ...bare,
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
}
const browser = { ...strict, module: 'ESNext', moduleResolution: 'Bundler', lib: ['ES2022', 'DOM'], types: [] }

// Checking every library takes a compiler of the old line half a minute where other work is going on.
const patient = { timeout: 180_000 }

describe('a tarball', () => {
  test.each(packages)('of %s has what it exports, its sources, README and LICENSE, and neither tests nor what builds leave behind', (name) => {
    const files = project.contents.get(`@troupe/${name}`)!
    const { exports } = JSON.parse(project.read(`node_modules/@troupe/${name}/package.json`)) as {
      exports: Record<string, Record<string, string> | string | null>
    }
    const conditions = Object.values(exports).filter((to) => typeof to === 'object' && to !== null)
    for (const to of conditions) expect(Object.keys(to)).toEqual(['types', 'default'])
    const exported = conditions.flatMap((to) => Object.values(to)).map((path) => path.slice(2))
    expect(files).toEqual(expect.arrayContaining([...exported, 'README.md', 'LICENSE', 'package.json', 'src/index.ts', `dist/${name}.js.map`]))
    expect(files.filter((path) => /\.test\.|tsbuildinfo|tsconfig/.test(path))).toEqual([])
    expect(project.read(`node_modules/@troupe/${name}/LICENSE`)).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })
})

const nodenext = { module: 'NodeNext', moduleResolution: 'NodeNext' }
const example = { target: 'ES2022', strict: true, lib: ['ES2022', 'ESNext.Disposable', 'DOM'], types: [] }

describe.each<Compiler>(['5.4', '5.9', '7'])('with TypeScript %s', patient, (compiler) => {
  test('core and testkit need neither @types/node nor ESNext.Disposable, and the example of the README compiles under every resolution', async () => {
    const resolutions = {
      bundler: { module: 'ESNext', moduleResolution: 'Bundler' },
      node16: { module: 'Node16', moduleResolution: 'Node16' },
      nodenext,
    }
    const examples = Object.entries(resolutions).map(
      ([name, modules]) => ['readme', `${compiler}.${name}`, { ...example, ...modules, noEmit: true, skipLibCheck: true }] as const,
    )
    expect(await project.compileAll(compiler, [['everything', `${compiler}.bare`, bare], ...examples])).toBe('')
  })
})

test('what is wrong is said for every one of several programs that are compiled together', patient, async () => {
  project.write('mistaken/main.ts', `import { ActorSystem } from '@troupe/core'\nActorSystem.create(7)\n`)
  const options = { ...example, ...nodenext, noEmit: true, skipLibCheck: true }
  const said = await project.compileAll('7', [
    ['mistaken', 'first', options],
    ['mistaken', 'second', { ...options, target: 'ES2023' }],
  ])
  expect(said.match(/main\.ts\(2,20\): error TS2345/g)).toHaveLength(2)
})

test('core and testkit compile for a bundler with the library of browsers', patient, async () => {
  expect(await project.compile('7', 'everything', 'browser', browser)).toBe('')
})

describe('with the types of Node, which are an optional peer,', () => {
  beforeAll(() => project.addNodeTypes())
  test.each<Compiler>(['5.4', '5.9', '7'])(
    'all packages agree with ESNext.Disposable under the strictest settings, with TypeScript %s',
    patient,
    async (compiler) => {
      expect(await project.compile(compiler, 'with-node', `${compiler}.strictest`, strictest)).toBe('')
    },
  )
  test('the examples of the READMEs run as they are installed, and print what they say', patient, async () => {
    expect(await project.compile('7', 'readme', 'emit', { ...example, ...nodenext, outDir: 'out', skipLibCheck: true })).toBe('')
    expect(await project.node('readme/out/main.js')).toMatchObject({ ok: true, out: readme.prints })
    const options = { ...example, ...nodenext, outDir: 'out', types: ['node'], skipLibCheck: true }
    expect(await project.compile('7', 'readmes', 'emit', options)).toBe('')
    for (const [name, { prints }] of ofPackages) expect(await project.node(`readmes/out/${name}.js`)).toMatchObject({ ok: true, out: prints })
  })
})

test('what a package can do without need not be there: only the entries that are for it miss it', patient, async () => {
  const without = [...new Set(packages.flatMap((name) => Object.keys(manifestOf(name).peerDependenciesMeta ?? {})))].filter(
    (name) => !name.startsWith('@types/'),
  )
  const entries = packages.flatMap(entriesOf).filter((entry) => !without.some((name) => entry === name || entry.startsWith(`${name}/`)))
  project.write(
    'without.js',
    `const missing = {}
     for (const entry of ${JSON.stringify(entries)})
       await import(entry).catch((cause) => (missing[entry] = /package '([^']+)'/.exec(cause.message)?.[1] ?? cause.message))
     console.log(JSON.stringify(missing))`,
  )
  const aside = project.elsewhere('without')
  const at = (name: string): string => join(project.folder, 'node_modules', name)
  const there = without.filter((name) => existsSync(at(name)))
  expect(there).toEqual(expect.arrayContaining(['@troupe/testkit', 'pg', 'prom-client']))
  for (const name of there) renameSync(at(name), join(aside, name.replace('/', '+')))
  try {
    const { out, err } = await project.node('without.js')
    expect(err).toBe('')
    expect(JSON.parse(out)).toEqual({
      '@troupe/cluster/testing': '@troupe/testkit',
      '@troupe/cluster/internal': '@troupe/testkit',
      '@troupe/observer/prometheus': 'prom-client',
      '@troupe/observer/opentelemetry': '@opentelemetry/api',
    })
  } finally {
    for (const name of there) renameSync(join(aside, name.replace('/', '+')), at(name))
  }
})

describe('there is one core:', () => {
  const same = `
    import { isMainThread, parentPort, Worker } from 'node:worker_threads'
    const entries = ${JSON.stringify(packages.flatMap(entriesOf))}
    // Two packages may call functions of their own alike; a class has one name everywhere.
    const keyOf = (entry, name) => (/^[A-Z]/.test(name) ? name : entry.split('/')[1] + ' ' + name)
    const found = new Map()
    const wrong = []
    let compared = 0
    for (const entry of entries)
      for (const [name, value] of Object.entries(await import(entry))) {
        if (typeof value !== 'function') continue
        const key = keyOf(entry, name)
        if (found.has(key)) {
          compared++
          if (found.get(key) !== value) wrong.push(name + ' of ' + entry + ' is another')
        } else found.set(key, value)
        if (/^[A-Z]/.test(name) && value.name !== name) wrong.push(name + ' of ' + entry + ' is called ' + value.name)
      }
    const internal = await import('@troupe/core/internal')
    const { ActorSystem } = await import('@troupe/core')
    const system = ActorSystem.create('identity', { logger: false })
    if (internal.coreOf(system) === undefined) wrong.push('internal does not know a system of the index')
    await system.shutdown()
    const said = JSON.stringify({ wrong, compared })
    if (!isMainThread) parentPort.postMessage(said)
    else {
      console.log(said)
      new Worker(new URL(import.meta.url)).on('message', (word) => console.log(word))
    }`
  test('classes are the same by all entries, and have their names, in the main thread and in a worker', async () => {
    project.write('same.js', same)
    const { ok, out, err } = await project.node('same.js')
    expect({ ok, err }).toEqual({ ok: true, err: '' })
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { wrong: string[]; compared: number })
    expect(lines).toHaveLength(2)
    for (const { wrong, compared } of lines) {
      expect(wrong).toEqual([])
      expect(compared).toBeGreaterThan(5)
    }
  })

  test('a second copy is refused by a sibling, which names both', async () => {
    const { ok } = await run('cp', ['-r', join(project.folder, 'node_modules/@troupe/core'), join(project.folder, 'other-core')], project.folder)
    expect(ok).toBe(true)
    project.write(
      'second.js',
      `import './other-core/dist/index.js'\nawait import('@troupe/node').catch((cause) => console.log(cause.code, cause.message))`,
    )
    const { out } = await project.node('second.js')
    expect(out).toMatch(
      /^not-allowed @troupe\/(?:border|node) found more than one copy of @troupe\/core: \S*other-core\S* and \S*node_modules\/@troupe\/core\S*\. /,
    )
  })

  test('one that was loaded after the sibling is found out when threads are wanted', async () => {
    project.write(
      'later.js',
      `import { threads } from '@troupe/node'
       const { ActorSystem } = await import('./other-core/dist/index.js')
       try { threads(ActorSystem.create('x', { keepAlive: false })) } catch (cause) { console.log(cause.message) }`,
    )
    expect((await project.node('later.js')).out).toContain('more than one copy of @troupe/core')
  })

  test('a core with another protocol is refused, with both numbers', async () => {
    const file = 'node_modules/@troupe/core/dist/core.js'
    const before = project.read(file)
    const after = before
      .replace('made !== 1)', 'made !== 99)')
      .replace('has protocol 1.', 'has protocol 99.')
      .replace('const protocol = 1;', 'const protocol = 99;')
    expect(after).not.toBe(before)
    try {
      project.write(file, after)
      const { out } = await project.node('--input-type=module', '-e', `await import('@troupe/testkit').catch((cause) => console.log(cause.message))`)
      expect(out).toMatch(/^@troupe\/testkit was made for protocol 1 of @troupe\/core, and \S*@troupe\/core\S* has protocol 99\. /)
    } finally {
      project.write(file, before)
    }
  })
})

test('a stack trace leads to the source that is in the package', async () => {
  project.write('trace.js', `import { ActorSystem } from '@troupe/core'\ntry { ActorSystem.create(7) } catch (cause) { console.log(cause.stack) }`)
  const { out } = await project.node('--enable-source-maps', 'trace.js')
  const [, file, line] = /@troupe\/core\/(src\/\S+\.ts):(\d+):\d+/.exec(out) ?? []
  expect(out).toContain('/@troupe/core/src/')
  expect(project.read(`node_modules/@troupe/core/${file}`).split('\n')[Number(line) - 1]).toMatch(/throw|new |\(/)
})

describe('in a bundle', () => {
  const actors = `
    import { receive, same, type ActorRef } from '@troupe/core'
    import { defineActor, defineTask } from '@troupe/node/threads'
    import { threadId } from 'node:worker_threads'
    export type Where = { type: 'where'; replyTo: ActorRef<number> }
    export const locator = defineActor(import.meta.url, 'locator', () => receive<Where>((_ctx, m) => {
      m.replyTo.tell(threadId)
      return same
    }))
    export const half = defineTask('half', (n: number) => n / 2)`
  const main = (options: string): string => `
    import { ActorSystem } from '@troupe/core'
    import { threads } from '@troupe/node'
    import { half, locator } from './actors.ts'
    console.log('main runs')
    const system = ActorSystem.create('app')
    try {
      const pool = threads(system, ${options})
      const ref = system.spawn(locator(), { dispatcher: 'parallel' })
      console.log((await ref.ask({ type: 'where' })) > 0)
      console.log(await pool.runTask<typeof half>(import.meta.url, 'half', [42]))
    } catch (cause) {
      console.log((cause as Error).message)
    }
    await system.shutdown()`

  /** Bundles entries of the project into a folder in which nothing is installed, and runs the first of them. */
  async function bundled(name: string, ...entries: readonly string[]): Promise<{ readonly ok: boolean; readonly out: string; readonly err: string }> {
    const outdir = project.elsewhere(name)
    const entryPoints = entries.map((entry) => join(project.folder, entry))
    const { warnings } = await build({
      entryPoints,
      outdir,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'silent',
      outbase: project.folder,
    })
    expect(warnings).toEqual([])
    writeFileSync(join(outdir, 'package.json'), '{ "type": "module" }')
    return run(process.execPath, [join(outdir, entries[0]!.replace(/\.ts$/, '.js'))], outdir)
  }

  test('the example of the README prints what it says', async () => {
    expect(await bundled('example', 'readme/main.ts')).toMatchObject({ ok: true, out: readme.prints })
  })
  test('threads run the worker entry, each with the one core of its bundle, and main runs once', async () => {
    project.write('app/actors.ts', actors)
    project.write('app/worker.ts', `import './actors.ts'\nimport '@troupe/node/worker'`)
    project.write('app/main.ts', main(`{ size: 2, worker: new URL('./worker.js', import.meta.url) }`))
    expect(await bundled('app', 'app/main.ts', 'app/worker.ts')).toEqual({ ok: true, out: 'main runs\ntrue\n21\n', err: '' })
  })
  test('threads without a worker entry are refused, and the error says how to write one', async () => {
    project.write('app/alone.ts', main(`{ size: 2 }`))
    const { out } = await bundled('alone', 'app/alone.ts')
    expect(out).toMatch(/^main runs\nThreads cannot start: .*troupe-thread\.js is not there\. .*@troupe\/node\/worker/)
  })
})

describe('a project that npm create begins', () => {
  /** A till of somebody's, which fails at its third message. */
  const shop = `
    import { receive } from '@troupe/core'
    export const options = { logger: false, supervision: 'stop' }
    export const till = () => {
      let cents = 0
      return receive((_ctx, m) => {
        cents += m.cents
        if (cents < 0) throw new RangeError('the till has ' + cents)
      })
    }
    export default (system) => {
      const ref = system.spawn(till(), { name: 'till' })
      for (const cents of [100, 50, -400]) ref.tell({ type: 'pay', cents })
    }`

  test(
    'installs, compiles, runs, is looked at and stops in order; a failure in it becomes a test, beside those it has, which pass',
    patient,
    async () => {
      const place = project.elsewhere('begun')
      const runtime = mkdtempSync(join(tmpdir(), 'tr-'))
      const env = { ...process.env, TROUPE_RUNTIME_DIR: runtime, NO_COLOR: '1' }
      process.env['TROUPE_RUNTIME_DIR'] = runtime
      try {
        const create = join(project.folder, 'node_modules/@troupe/create/dist/main.js')
        expect(await run(process.execPath, [create, 'my-app', '--yes'], place)).toMatchObject({
          ok: true,
          out: expect.stringContaining('next: cd my-app && npm install'),
        })
        expect(await run(process.execPath, [create, 'my-app', '--yes'], place)).toMatchObject({
          ok: false,
          err: expect.stringContaining('is not empty'),
        })
        const app = join(place, 'my-app')
        await project.installInto(app)
        const node = (...args: readonly string[]): ReturnType<typeof run> => run(process.execPath, args, app)
        const troupe = (...args: readonly string[]): ReturnType<typeof run> => node('node_modules/@troupe/cli/dist/main.js', ...args)
        expect(await node('node_modules/typescript/bin/tsc', '--noEmit')).toEqual({ ok: true, out: '', err: '' })
        expect(await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')).toEqual({ ok: true, out: '', err: '' })

        /** Runs it with the command; resolves once it says that it is ready. */
        const start = async (
          module: string,
          ...more: readonly string[]
        ): Promise<{ stop(): Promise<{ readonly code: number; readonly said: string }> }> => {
          const child = spawn(process.execPath, ['node_modules/@troupe/cli/dist/main.js', 'run', module, ...more], {
            cwd: app,
            env,
            stdio: ['ignore', 'ignore', 'pipe'],
          })
          let said = ''
          child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
          const ended = once(child, 'exit') as Promise<[number]>
          await Promise.race([once(child.stderr, 'data'), ended])
          return { stop: async () => (child.kill('SIGTERM'), { code: (await ended)[0], said }) }
        }
        const running = await start('dist/main.js', '--observe')
        const tree = await troupe('tree')
        expect(tree).toMatchObject({ ok: true, err: '' })
        expect(tree.out).toMatch(/root\n.*desk.*\n.*visitor/s)
        const { code, said } = await running.stop()
        expect({ code, said }).toEqual({
          code: 0,
          said: expect.stringMatching(/^page at http:\/\/localhost:\d+\/#.*my-app ended after .*: 3 stopped, 0 killed/s),
        })

        writeFileSync(join(app, 'dist/shop.js'), shop)
        const failing = await start('dist/shop.js', '--record', '--health', '0')
        expect(await troupe('capsule', '/user/till', '--to', 'till.json')).toMatchObject({
          ok: true,
          out: expect.stringContaining('failed with RangeError: the till has -250'),
        })
        expect((await failing.stop()).code).toBe(0)
        expect(await troupe('replay', 'till.json', '--with', 'dist/shop.js#till')).toMatchObject({
          ok: true,
          out: expect.stringContaining('the same failure at message 3 of 3'),
        })
        expect(await troupe('replay', 'till.json', '--with', 'dist/shop.js#till', '--as-test', 'test/till.test.ts')).toMatchObject({ ok: true })
        const tested = await node('node_modules/vitest/vitest.mjs', 'run')
        expect(tested.ok).toBe(false)
        expect(tested.out).toMatch(/✓ test\/desk\.test\.ts \(2 tests\)/)
        expect(tested.out).toMatch(/1 failed \| 2 passed/)
        expect(tested.err).toContain('RangeError: the till has -250')
        // Mended, the same test passes.
        writeFileSync(join(app, 'dist/shop.js'), shop.replace('if (cents < 0) throw', 'if (Number.isNaN(cents)) throw'))
        expect(await node('node_modules/vitest/vitest.mjs', 'run')).toMatchObject({ ok: true, out: expect.stringContaining('3 passed') })
      } finally {
        delete process.env['TROUPE_RUNTIME_DIR']
        rmSync(runtime, { recursive: true, force: true })
      }
    },
  )
})
