// Run by tests in a process of its own: clients that send, end their side at once, and count how many got all of it back.
// `echo-clients.js <port> <total> <at once> <bytes> <tcp | tls>`

import { connect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

const [port, total, atOnce, bytes] = process.argv.slice(2, 6).map(Number) as [number, number, number, number]
const secure = process.argv[6] === 'tls'

let begun = 0
let lost = 0
let errors = 0

function client(done: () => void): void {
  const payload = Buffer.alloc(bytes, `client ${begun++} `)
  const got: Buffer[] = []
  const to = { port, host: '127.0.0.1', allowHalfOpen: true }
  const socket: Socket = secure ? tlsConnect({ ...to, rejectUnauthorized: false }) : connect(to)
  socket.on('data', (chunk: Buffer) => got.push(chunk))
  socket.on('error', () => errors++)
  socket.on('close', () => {
    if (!Buffer.concat(got).equals(payload)) lost++
    done()
  })
  socket.end(payload)
}

let over = 0
const next = (): void => {
  if (begun < total) client(next)
  if (++over === total) console.log(JSON.stringify({ total, lost, errors }))
}
for (let i = 0; i < Math.min(atOnce, total); i++) client(next)
