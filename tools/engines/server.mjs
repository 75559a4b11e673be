// A server that a test, a benchmark or a chaos run starts for itself: on 127.0.0.1, in a folder of its own, ended with its owner.

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

/** Below the ports that systems give to clients (Linux from 32768 on, others from 49152 on), and above those of well-known services. */
const ports = { from: 20_000, to: 32_000 }

/**
 * A free port of 127.0.0.1. It is never one that the system gives to a client: while a client has that port, and a minute after it has closed, no
 * server could start there, or start again after a crash.
 */
export async function freePort() {
  for (;;) {
    const port = ports.from + Math.floor(Math.random() * (ports.to - ports.from))
    if (await isFree(port)) return port
  }
}

function isFree(port) {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Runs `program` until it says `ready` on one of its outputs; rejects with what it said where it ends before that. */
export function startProgram(program, args, ready, options) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  // Whoever started it may be killed in a chaos run: what it leaves behind is not to outlive a test of this process at least.
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  void ended.then(() => process.removeListener('exit', end))
  return new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk) => {
      if (said.length < 100_000) said += chunk
      if (ready.test(said)) resolve({ child, ended, pid: child.pid })
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    child.once('error', reject)
    void ended.then((code) => reject(new Error(`${program} ended with ${code} before it was ready:\n${said}`)))
  })
}

/** Ends a running program: by `signal`, and after `patience` ms by SIGKILL. */
export async function endProgram({ child, ended }, signal, patience = 20_000) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), patience)
  await ended
  clearTimeout(timer)
}
