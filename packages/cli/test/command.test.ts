// The command, run in this process against systems of this process: what it prints, by what it ends, and what it is like in a pipe.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ActorSystem, type ActorRef, receive, same, setup } from '@troupe/core'
import { observe } from '@troupe/observer'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Keys } from '../src/commands/top.ts'
import { ascii, knowsUtf8 } from '../src/ascii.ts'
import { attachTo } from '../src/choosing.ts'
import { exitCodesSaid } from '../src/exit.ts'
import { runCommand } from '../src/program.ts'
import { clean } from '../src/style.ts'

let folder: string
const systems: ActorSystem[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
})
afterEach(async () => {
  for (const system of systems.splice(0)) await system.shutdown()
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

async function observed(name: string): Promise<ActorSystem> {
  const made = ActorSystem.create(name, { logger: false, keepAlive: false })
  systems.push(made)
  // On a busy machine any turn may hold the loop for long.
  await observe(made, { every: 100, mute: ['holds-loop'] }).ready
  return made
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What it said that it waits for. */
  readonly waited: readonly string[]
}

interface Terminal {
  readonly keys?: Keys
  readonly columns?: number
  /** Is given what is written. */
  readonly screen?: (text: string) => void
}

async function troupe(argv: string, terminal?: Terminal): Promise<Ran> {
  let out = ''
  let err = ''
  const waited: string[] = []
  const isTTY = terminal !== undefined
  const code = await runCommand(argv === '' ? [] : argv.split(' '), {
    screen: {
      isTTY,
      columns: terminal?.columns ?? 100,
      rows: 30,
      colours: isTTY,
      write: (text) => {
        out += text
        terminal?.screen?.(text)
      },
    },
    keys: terminal?.keys,
    complain: (text) => void (err += `${text}\n`),
    waitFor: (what) => void waited.push(what),
    version: '1.2.3',
  })
  return { code, out, err, waited }
}

const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 30_000, interval: 20 })

const stuck = (): ReturnType<typeof receive<unknown>> => receive<unknown>(() => new Promise<never>(() => {}))

describe('calling it', () => {
  test.each([
    '',
    'run',
    'new',
    'sim',
    'capsule',
    'replay',
    'flow',
    'trace',
    'profile',
    'report',
    'ls',
    'top',
    'doctor',
    'tree',
    'inspect',
    'waits',
    'dead',
    'events',
  ])('%s --help says what it takes', async (command) => {
    const { code, out, err } = await troupe(`${command} --help`.trim())
    expect(code).toBe(0)
    expect(out).toContain(command === '' ? 'Exit codes' : command)
    if (!['', 'run', 'new'].includes(command)) expect(out).toContain('--json')
    expect(err).toBe('')
  })

  test('a command that is almost right is suggested, and ends with 2', async () => {
    const { code, err } = await troupe('docter')
    expect(code).toBe(2)
    expect(err).toMatch(/Did you mean doctor\?/)
  })

  test.each(['top --by colour', 'tree --depth x', 'doctor --for soon', 'inspect', 'top -n 0', 'profile --for 1m'])(
    '%s is refused with 2',
    async (argv) => {
      expect((await troupe(argv)).code).toBe(2)
    },
  )

  test('--version is the version', async () => {
    expect(await troupe('--version')).toMatchObject({ code: 0, out: '1.2.3\n' })
  })
})

describe('which system', () => {
  test('without any it ends with 3, and says what to do', async () => {
    const { code, err } = await troupe('doctor')
    expect(code).toBe(3)
    expect(err).toContain('observe(system)')
    expect(await troupe('ls')).toMatchObject({ code: 0, err: '' })
  })

  test('of several one must be named, by its name', async () => {
    await observed('one')
    const two = await observed('two')
    two.spawn(
      receive<string>(() => same),
      { name: 'here' },
    )
    expect(await troupe('tree')).toMatchObject({ code: 2 })
    expect(await troupe('tree --system three')).toMatchObject({ code: 3 })
    expect((await troupe('tree --system two')).out).toContain('here')
    const { out } = await troupe('ls --json')
    expect((JSON.parse(out) as { system: string }[]).map((s) => s.system).toSorted()).toEqual(['one', 'two'])
    expect((await troupe('ls')).out).toMatch(/one .*\n.*two |two .*\n.*one /s)
  })
})

describe('what is odd', () => {
  test('a system that takes connections and does not answer is said to hang; ls says so, too', async () => {
    const socket = join(folder, `${process.pid}-77.sock`)
    const clients: Socket[] = []
    const server = createServer((client) => void clients.push(client)).listen(socket)
    const descriptor = { protocol: 1, system: 'hung', id: 77, pid: process.pid, socket, since: new Date().toISOString(), program: 'x' }
    writeFileSync(join(folder, `${process.pid}-77.json`), JSON.stringify(descriptor))
    await expect(attachTo('hung', 50)).rejects.toThrow(/System hung of process \d+ takes connections but does not answer/)
    for (const client of clients) client.destroy()
    await new Promise((resolve) => server.close(resolve))
    // Its socket is gone, its process is not.
    expect(await troupe('tree')).toMatchObject({ code: 3, err: expect.stringContaining('cannot be reached') })
    expect((await troupe('ls')).out).toContain('does not answer')
  })

  test('two of one name are told apart by their numbers, and each can be named by its own', async () => {
    const [one, two] = [await observed('shop'), await observed('shop')]
    const { code, err } = await troupe('tree --system shop')
    expect(code).toBe(2)
    const ids = [one, two].map((system) => `${process.pid}-${system.id}`)
    for (const id of ids) expect(err).toContain(id)
    expect(await troupe(`tree --system ${ids[1]}`)).toMatchObject({ code: 0 })
  })

  test('letters that turn the order of others around are no part of what is shown', () => {
    expect(clean('safe\u202Etxt.exe\u009B2J\u2028')).toBe('safe\uFFFDtxt.exe\uFFFD2J\uFFFD')
  })
})

test.each([
  [{ LANG: 'C' }, 'linux', false],
  [{ LC_ALL: 'de_DE.ISO-8859-1', LANG: 'en_US.UTF-8' }, 'linux', false],
  [{ LC_ALL: '', LANG: 'en_US.utf8' }, 'linux', true],
  [{}, 'linux', true],
  [{ LANG: 'C' }, 'win32', true],
])('a terminal of %j on %s knows UTF-8: %j; one that does not is drawn on with letters', (env, platform, knows) => {
  expect(knowsUtf8(env, platform)).toBe(knows)
  expect(ascii('■ ├─ Łódź 4 µs…')).toBe('# |- ??d? 4 us~')
})

describe('more to look at', () => {
  test('flow says who sends how much to whom, and trace follows the next message of a type', async () => {
    const shop = await observed('shop')
    const till = shop.spawn(
      receive<{ type: 'pay' }>(() => same),
      { name: 'till' },
    )
    const door = shop.spawn(
      receive<{ type: 'come' }>(() => till.tell({ type: 'pay' })),
      { name: 'door' },
    )
    const again = setInterval(() => door.tell({ type: 'come' }), 5)
    // On a busy machine no message may be sent while it looks.
    await eventually(async () => expect((await troupe('flow --for 200ms')).out).toMatch(/door +→ +till .*pay/))
    await eventually(async () => {
      const edges = JSON.parse((await troupe('flow --for 200ms --json')).out) as { from: string; to: string }[]
      expect(edges).toContainEqual(expect.objectContaining({ from: 'door', to: 'till', type: 'pay' }))
    })
    const traced = await troupe('trace --next come --settle 30s')
    clearInterval(again)
    expect(traced.err).toBe('')
    expect(traced.out).toMatch(/\/user\/door +come .*\n.* {3}\/user\/till +pay/)
    expect(await troupe('trace --next never --within 100ms')).toMatchObject({ code: 1, err: expect.stringContaining('No message never') })
  })

  test('profile says whose turns take the time, and in which functions', async () => {
    const shop = await observed('shop')
    // Without a loop: V8 cannot name code that it optimized within a loop before the profile began.
    const weigh = (n: number): number => (n === 0 ? 0 : (weigh(n - 1) * 31 + n) | 0)
    const scale = shop.spawn(
      receive<{ type: 'weigh' }>((ctx, m) => {
        for (let i = 0; i < 20; i++) weigh(1000)
        ctx.self.tell(m)
        return same
      }),
      { name: 'scale', kind: 'scales' },
    )
    scale.tell({ type: 'weigh' })
    const { code, out, err } = await troupe('profile --for 300ms')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/looked at, \d+ % of it with nothing to do; \d+ samples/)
    expect(out).toMatch(/\nscales +\d+ % +█+/)
    expect(out).toMatch(/weigh /)
    expect(out).toMatch(/\/user\/scale +\d+ % +scales/)
    const { actors, flame } = JSON.parse((await troupe('profile --for 200ms --json')).out) as { actors: { path: string }[]; flame: { ms: number } }
    expect(actors[0]!.path).toBe('/user/scale')
    expect(flame.ms).toBeGreaterThan(0)
  })

  test('report is one file, in which a name is text, and never takes the place of another', async () => {
    const shop = await observed('shop')
    shop.spawn(
      setup<string>((ctx) => {
        ctx.label('<script>alert(1)</script>')
        return receive(() => same)
      }),
      { name: '<img>' },
    )
    const file = join(folder, 'report.html')
    expect(await troupe(`report --for 200ms --to ${file}`)).toMatchObject({ code: 0, out: `${file}\n` })
    const html = readFileSync(file, 'utf8')
    expect(html).toContain('&lt;img&gt;')
    expect(html).not.toMatch(/<(script|img)/)
    expect(await troupe(`report --to ${file}`)).toMatchObject({ code: 2 })
    const json = join(folder, 'report.json')
    await troupe(`report --for 200ms --json --to ${json}`)
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ system: 'shop', tree: { name: 'user' } })
  })

  test('sim runs what a module exports, and ends with 1 where a promise is broken, with the line that shows it again', async () => {
    const module = join(import.meta.dirname, 'modules/scenarios.mjs')
    expect(await troupe(`sim ${module} --scenario fine --seeds 5 --start 1`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^✓ fine {2}5 seeds from 1 on/),
    })
    const saved = join(mkdtempSync(join(tmpdir(), 'troupe-sim-')), 'run.json')
    const { code, out } = await troupe(`sim ${module} --scenario broken --seeds 5 --start 1 --save ${saved}`)
    expect(code).toBe(1)
    expect(JSON.parse(readFileSync(saved, 'utf8'))).toMatchObject({ troupe: 'run', scenario: 'broken', seed: 1, events: expect.any(Array) })
    expect(await troupe(`sim ${module} --scenario broken --seeds 1 --start 1 --save ${join(saved, 'x')}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Cannot write'),
    })
    expect(out).toContain('--scenario broken --start 1 --seeds 1')
    expect(await troupe(`sim ${module} --scenario nope`)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/there are: (broken, fine|fine, broken)/),
    })
  })

  test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command and its options', async (shell) => {
    const { code, out } = await troupe(`completion ${shell}`)
    expect(code).toBe(0)
    for (const word of ['doctor', 'capsule', 'health']) expect(out).toContain(word)
  })
})

describe('looking', () => {
  test('doctor says what is wrong, one line each in a pipe, and ends with 1; with 0 where nothing is', async () => {
    const shop = await observed('shop')
    expect(await troupe('doctor --for 200ms')).toMatchObject({ code: 0, out: expect.stringContaining('nothing needs you') })
    const [a, b] = ['hangar', 'tower'].map((name) =>
      shop.spawn(
        receive<{ type: 'go'; to?: ActorRef<never>; back?: ActorRef<never> }>(async (ctx, m) => {
          if (m.to !== undefined) await ctx.ask(m.to, { type: 'go', to: m.back } as never, { deadlock: 'off', timeout: 60_000 }).catch(() => {})
          return same
        }),
        { name, stopTimeout: 0 },
      ),
    )
    a!.tell({ type: 'go', to: b as never, back: a as never })
    const { code, out } = await troupe('doctor --for 200ms')
    expect(code).toBe(1)
    expect(out).toMatch(/^■ Deadlock +hangar → tower → hangar: each waits for the answer of the next/)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(out).not.toContain('\u001B')
    const { findings } = JSON.parse((await troupe('doctor --for 200ms --json')).out) as { findings: { rule: string }[] }
    expect(findings.map((f) => f.rule)).toEqual(['wait-cycle'])
    const seen = await troupe('doctor --for 200ms', {})
    expect(seen.out).toContain('observing.md#wait-cycle')
    for (const ref of [a, b]) shop.kill(ref!)
  })

  test('help, guide and doctor agree on what it ends with: what is only worth a look is 0', async () => {
    expect((await troupe('--help')).out.replaceAll(/\s+/g, ' ')).toContain(`Exit codes: ${exitCodesSaid}.`)
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/command-line.md'), 'utf8')
    expect(guide.replaceAll(/\s+/g, ' ')).toContain(`Exit codes: ${exitCodesSaid} `)
    const shop = await observed('shop')
    const gone = shop.spawn(stuck(), { name: 'gone' })
    shop.kill(gone)
    // More at once than it takes to be worth a look.
    const telling = setInterval(() => Array.from({ length: 20 }, () => gone.tell('x')), 5)
    await eventually(async () => {
      const { code, out } = await troupe('doctor --for 200ms')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('▲ Dead letters') as string })
    })
    clearInterval(telling)
  })

  test('trace and profile say what they wait for, where somebody sees it', async () => {
    const shop = await observed('shop')
    shop.spawn(stuck(), { name: 'idle' })
    expect((await troupe('profile --for 100ms', {})).waited).toEqual(['looking for 100 ms'])
    expect((await troupe('trace --next x --within 100ms', {})).waited).toEqual(['waiting for the next x, up to 100 ms'])
  })

  test('top on a narrow terminal has no line that is wider', async () => {
    const shop = await observed('shop')
    const slow = shop.spawn(stuck(), { name: 'one-with-a-rather-long-name', stopTimeout: 0 })
    for (let i = 0; i < 3; i++) slow.tell(i)
    const { out } = await troupe('top -n 2', { columns: 40 })
    const commands = new RegExp(String.raw`\u001B\[[?\d;]*[a-zA-Z]`, 'g')
    const lines = out.split(new RegExp(String.raw`\u001B\[\d+;1H`)).map((line) => line.replaceAll(commands, ''))
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => Array.from(line).length > 40)).toEqual([])
    shop.kill(slow)
  })

  test('top in a pipe is one table, with --json one value, and on a terminal a picture that q ends', async () => {
    const shop = await observed('shop')
    const slow = shop.spawn(stuck(), { name: 'slow', stopTimeout: 0 })
    for (let i = 0; i < 3; i++) slow.tell(i)
    const piped = await troupe('top')
    expect(piped.code).toBe(0)
    expect(piped.out).toMatch(/\/user\/slow +running +2 /)
    expect(piped.out).toContain('pending')
    expect(piped.out).not.toContain('\u001B')
    const { rows } = JSON.parse((await troupe('top --json')).out) as { rows: { path: string; queued: number }[] }
    expect(rows.find((row) => row.path === '/user/slow')).toMatchObject({ queued: 2 })
    let press = (_key: string): void => {}
    const keys: Keys = { listen: (on) => ((press = on), () => {}) }
    let drawn = ''
    const pictured = troupe('top', { keys, screen: (text) => (drawn += text) })
    await eventually(() => expect(drawn).toContain('sort (trouble)'))
    // Sorted in another order, paused and resumed, then ended. Each key is answered with a picture.
    for (const [key, shows] of [
      ['s', 'sort (queued)'],
      ['s', 'sort (busy)'],
      [' ', ' paused '],
      [' ', 'space pause'],
    ] as const) {
      drawn = ''
      press(key)
      await eventually(() => expect(drawn).toContain(shows))
    }
    press('q')
    const { out, code } = await pictured
    expect(code).toBe(0)
    expect(out.startsWith('\u001B[?1049h')).toBe(true)
    expect(out.endsWith('\u001B[?25h\u001B[?1049l')).toBe(true)
    expect(out).toContain('sort (busy)')
    shop.kill(slow)
  })

  test('tree folds many siblings, inspect shows one, and who is not there ends with 1', async () => {
    const shop = await observed('shop')
    for (let i = 0; i < 15; i++)
      shop.spawn(
        receive<string>(() => same),
        { name: `drone-${i}`, kind: 'drone' },
      )
    const { out } = await troupe('tree --most 5')
    expect(out).toContain('… 10 more, 0 queued, 0 restarts')
    expect((await troupe('inspect /user/drone-3')).out).toMatch(/kind +drone/)
    expect(await troupe('inspect /user/nobody')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('troupe tree shows') })
    expect(await troupe('inspect drone3')).toMatchObject({ code: 1, err: expect.stringContaining('Did you mean') })
    expect((await troupe('tree /user/dron-3')).err).toMatch(/Did you mean \/user\/drone-3\?/)
    expect(await troupe('tree /user/nobody')).toMatchObject({ code: 1 })
  })

  test('waits, dead and events', async () => {
    const shop = await observed('shop')
    expect((await troupe('waits')).out).toBe('Nobody waits for an answer.\n')
    expect((await troupe('dead')).out).toBe('There are no dead letters.\n')
    const slow = shop.spawn(stuck(), { name: 'slow', stopTimeout: 0 })
    ;(slow as ActorRef<{ type: 'q'; replyTo: ActorRef<number> }>).ask({ type: 'q' }, { timeout: 60_000 }).catch(() => {})
    const gone = shop.spawn(
      receive<string>(() => same),
      { name: 'gone' },
    )
    gone.stop()
    await shop.whenTerminated(gone)
    gone.tell('x')
    expect((await troupe('waits')).out).toMatch(/outside +\/user\/slow +q +/)
    expect((await troupe('dead')).out).toMatch(/string +unsaid +\/user\/gone +stopped/)
    // Not the first alone: that may be about a turn that the machine made slow.
    const events = troupe('events -n 10')
    const again = setInterval(() => gone.tell('x'), 5)
    expect((await events).out).toMatch(/message\.dead +\/user\/gone +dead letter string: stopped/)
    clearInterval(again)
    shop.kill(slow)
  })

  test('what an actor is called cannot write on the terminal', async () => {
    const shop = await observed('shop')
    const ref = shop.spawn(
      receive<string>((ctx) => {
        ctx.label('\u001B[2Jgone')
        return same
      }),
      { name: 'sly' },
    )
    ref.tell('x')
    const { out } = await troupe('inspect /user/sly')
    expect(out).toContain('gone')
    expect(out).not.toContain('\u001B[2J')
  })
})
