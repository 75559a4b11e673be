// Memory of idle connections: ours beside plain node:net, each in a process of its own, with the clients in a third.
//
//   npm run bench:idle -- [--connections 10000]

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { commandLine, whole } from '@troupe/testkit/internal'
import { listening } from './server-process.mjs'

// Only the process that measures can make one of clients: it has a channel to it.
if (process.connected && process.argv[2] === '--clients') {
  const [port, count] = process.argv.slice(3).map(Number)
  const sockets = []
  while (sockets.length < count) {
    const batch = await Promise.all(
      Array.from({ length: Math.min(200, count - sockets.length) }, async () => {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        socket.write('PING\r\n')
        await once(socket, 'data')
        return socket
      }),
    )
    sockets.push(...batch)
  }
  process.send('ready')
  process.on('message', () => process.exit())
} else {
  const { connections: count } = commandLine({
    name: 'npm run bench:idle',
    about: 'Memory of idle connections: the server with actors beside plain node:net, each in a process of its own. Needs /proc.',
    options: { connections: whole('how many connections', 10_000) },
  })
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024
  const result = {}
  for (const { name, port, extra } of [
    { name: 'node:net', port: 6395, extra: ['--plain'] },
    { name: 'troupe', port: 6394, extra: [] },
  ]) {
    const server = spawn(process.execPath, ['--expose-gc', main, '--port', String(port), ...extra], { stdio: ['ignore', 'pipe', 'inherit'] })
    await listening(server, port)
    const measure = async () => {
      // Both servers collect their garbage on SIGUSR2, so that the figure is what connections hold.
      for (let i = 0; i < 3; i++) {
        server.kill('SIGUSR2')
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
      return rss(server.pid)
    }
    const before = await measure()
    const clients = fork(fileURLToPath(import.meta.url), ['--clients', String(port), String(count)])
    await once(clients, 'message')
    const after = await measure()
    result[name] = (after - before) / count
    clients.send('exit')
    await once(clients, 'exit')
    server.kill('SIGTERM')
    await once(server, 'exit')
    console.log(
      `${name.padEnd(10)} ${count} idle connections: ${(before / 1e6).toFixed(0)} → ${(after / 1e6).toFixed(0)} MB, ${(result[name] / 1024).toFixed(1)} KiB each`,
    )
  }
  console.log(`ours over plain: ${(result['troupe'] / result['node:net']).toFixed(2)}`)
}
