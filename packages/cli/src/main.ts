#!/usr/bin/env node
// The command as it is started: its screen, its keys, its exit code. Whoever reads it and has enough closes the pipe, which is no failure.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { ascii, knowsUtf8 } from './ascii.ts'
import { type Keys } from './commands/top.ts'
import { runCommand } from './program.ts'
import { type Interrupts, signalNumbers, type SignalName } from './running/interrupts.ts'

const { stdout, stderr, stdin, env } = process
const keys: Keys = {
  listen(on) {
    stdin.setRawMode(true)
    stdin.setEncoding('utf8')
    const take = (text: string): void => on(text)
    stdin.on('data', take)
    stdin.resume()
    return () => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
    }
  },
}
const interrupts: Interrupts = {
  listen(on) {
    const names = Object.keys(signalNumbers) as SignalName[]
    const told = (signal: SignalName): void => on(signal)
    for (const name of names) process.on(name, told)
    return () => names.forEach((name) => process.off(name, told))
  },
  end: (signal) => process.exit(128 + signalNumbers[signal]),
}
stdout.on('error', (cause: { readonly code?: string }) => process.exit(cause.code === 'EPIPE' ? 0 : 1))
// What is piped is for programs, which are told UTF-8.
const plain = stdout.isTTY && !knowsUtf8(env, process.platform)
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
process.exitCode = await runCommand(process.argv.slice(2), {
  screen: {
    isTTY: stdout.isTTY,
    get columns() {
      return stdout.columns ?? 120
    },
    get rows() {
      return stdout.rows ?? 40
    },
    colours: stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    write: (text) => void stdout.write(plain ? ascii(text) : text),
    ready: () => (stdout.writableNeedDrain ? once(stdout, 'drain') : Promise.resolve()),
  },
  keys: stdout.isTTY && stdin.isTTY ? keys : undefined,
  complain: (text) => void stderr.write(`${text}\n`),
  ...(stderr.isTTY && { waitFor: (what: string) => void stderr.write(`${plain ? ascii(what) : what}\n`) }),
  version,
  interrupts,
})
// What an application left open, a server or a timer, must not keep a command that has ended.
setTimeout(() => {
  stderr.write(`ended, but kept alive by ${[...new Set(process.getActiveResourcesInfo())].join(', ')}; ending it\n`)
  process.exit()
}, 3000).unref()
