// An echo server in one process, on the runtime that is given, and its clients in another, on this Node: what is lost between them.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Echoed {
  readonly total: number
  /** Clients that did not get back just what they sent. */
  readonly lost: number
  /** What the clients met. */
  readonly errors: number
  /** What the server's actors were told, and what its ledger did not account for. */
  readonly served: { readonly errors: number; readonly unaccounted: number }
}

/** The forms of the server: see echo-main. */
export const forms: readonly string[] = ['handler', 'late', 'owner', 'tls']

const atOnce = 300
const patience = 50_000

/** Starts a program whose lines can be read one by one; whatever becomes of it, it ends. */
function start(runtime: readonly string[], main: string, args: readonly unknown[]): { child: ChildProcess; line(): Promise<string> } {
  const [command, ...before] = runtime as readonly [string, ...string[]]
  const path = fileURLToPath(new URL(main, import.meta.url))
  const child = spawn(command, [...before, path, ...args.map(String)], { stdio: ['pipe', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), patience)
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const over = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      reject(new Error(`${command} ${main} ended with ${signal ?? `code ${code}`} before it had said all. ${errors}`))
    })
  })
  over.catch(() => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { value, done } = await Promise.race([lines.next(), over])
    return done === true ? over : value
  }
  return { child, line }
}

/** So many clients, 300 at once, that send so many bytes each, against a server in that form on `runtime`: a command and its arguments. */
export async function echo(runtime: readonly string[], form: string, clients: number, bytes: number): Promise<Echoed> {
  const server = start(runtime, 'echo-main.js', [form])
  try {
    const port = await server.line()
    const asking = start([process.execPath], 'echo-clients.js', [port, clients, atOnce, bytes, form === 'tls' ? 'tls' : 'tcp'])
    const counted = JSON.parse(await asking.line()) as Omit<Echoed, 'served'>
    server.child.stdin!.end()
    return { ...counted, served: JSON.parse(await server.line()) as Echoed['served'] }
  } finally {
    if (server.child.exitCode === null && server.child.signalCode === null) {
      server.child.kill()
      await once(server.child, 'close')
    }
  }
}
