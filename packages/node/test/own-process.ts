// A built program of `actors/` in a process of its own, for tests whose subject may take its whole process down with it:
// then this test fails, and says how the process ended, instead of all the tests that shared the process.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly errors: string
}

/** Runs it to its end, however that is; after `patience` milliseconds it is killed. */
export function endOf(main: string, args: readonly string[] = [], nodeArgs: readonly string[] = [], patience = 50_000): Promise<Ended> {
  const path = fileURLToPath(new URL(`../dist-test/${main}`, import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeArgs, path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), patience)
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, out, errors })
    })
  })
}

/** What it prints. Fails with all there is to know unless it ended well. */
export async function outputOf(...run: Parameters<typeof endOf>): Promise<string> {
  const ended = await endOf(...run)
  if (ended.code === 0) return ended.out
  throw new Error(`${[run[0], ...(run[1] ?? [])].join(' ')} ${how(ended)}`)
}

export function how({ code, signal, out, errors }: Ended): string {
  return `ended with ${signal ?? `code ${code}`}.\nIt printed: ${out || 'nothing'}\nErrors: ${errors || 'none'}`
}
