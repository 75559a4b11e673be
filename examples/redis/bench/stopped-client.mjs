// A client that subscribes to a flood and is then stopped with SIGSTOP: the server's memory must stay flat.
//
//   npm run bench:stopped -- [--seconds 10]

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { amount, commandLine } from '@troupe/testkit/internal'
import { listening } from './server-process.mjs'

const port = 6396
if (process.connected && process.argv[2] === '--reader') {
  // Asks for far more than it will read: a pipeline of large answers, in mid-stream when it is stopped.
  const socket = connect(port, '127.0.0.1')
  const ask = () => {
    while (socket.write('LRANGE big 0 -1\r\n'.repeat(100)));
  }
  socket.on('drain', ask)
  socket.once('data', () => process.send('reading'))
  socket.on('data', () => {})
  ask()
} else {
  const { seconds } = commandLine({
    name: 'npm run bench:stopped',
    about: "A client that is stopped in mid-stream: the server's memory must stay flat. Ends with 1 where it grows. Needs /proc.",
    options: { seconds: amount('how long the client stays stopped', 10, { from: 0, to: 86_400 }) },
  })
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const server = spawn(process.execPath, [main, '--port', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
  await listening(server, port)
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024

  const control = connect(port, '127.0.0.1')
  control.setEncoding('latin1')
  const call = async (line) => {
    control.write(`${line}\r\n`)
    return (await once(control, 'data'))[0]
  }
  for (let i = 0; i < 100; i++) await call(`RPUSH big ${'x'.repeat(1000)}`)

  const reader = fork(fileURLToPath(import.meta.url), ['--reader'])
  await once(reader, 'message')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  reader.kill('SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 500))
  const samples = [rss()]
  console.log(`client stopped in mid-stream; server at ${samples[0].toFixed(0)} MiB`)
  for (let i = 0; i < seconds; i++) {
    for (let j = 0; j < 200; j++) await call('PING')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    samples.push(rss())
  }
  const growth = samples.at(-1) - samples[0]
  console.log(`after ${seconds} s: ${samples.at(-1).toFixed(0)} MiB, grown by ${growth.toFixed(1)} MiB; others were served meanwhile`)
  reader.kill('SIGCONT')
  reader.kill('SIGKILL')
  control.destroy()
  server.kill('SIGTERM')
  await once(server, 'exit')
  process.exitCode = growth < 16 ? 0 : 1
}
