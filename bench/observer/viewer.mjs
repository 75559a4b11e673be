// Does what a page does that shows one view: reads the feed, and asks what the view asks with each round. It is told by lines of its input:
// `open <url> <view>`, then `begin`, from where on it counts, and `end`, at which it leaves and prints bytes and rounds a second as JSON.

import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'

let url
let view
let headers
const agent = new Agent({ keepAlive: true })
const questions = {
  actors: ['/api/lines', { mode: 'tree', sort: 'trouble', filter: '', offset: 0, count: 160, opened: [], closed: [], full: [] }],
}

let bytes = 0
let rounds = 0
let since
let feed
const post = (path, body, onPiece) =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: url.port, method: 'POST', path, headers, setHost: false, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
      response.on('data', (piece) => {
        bytes += piece.length
        onPiece?.(piece)
      })
      response.on('end', resolve)
    })
    if (onPiece !== undefined) feed = asked
    // What is left of a feed that is over is nobody's any more.
    asked.on('error', (cause) => (asked.destroyed && asked !== feed ? resolve() : reject(cause)))
    asked.end(JSON.stringify(body))
  })

// A piece after a pause is a round: frames of one come together.
let last = 0
let asking = false
function heard() {
  const now = performance.now()
  if (now - last > 100) {
    rounds++
    const question = questions[view]
    if (question !== undefined && !asking) {
      asking = true
      void post(...question).then(() => (asking = false))
    }
  }
  last = now
}

function open(address, of) {
  url = new URL(address)
  view = of
  headers = {
    host: url.host,
    origin: url.origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    'x-troupe-token': url.hash.slice(1),
  }
  void post('/api/feed', { view }, heard)
}
function end() {
  const seconds = (performance.now() - since) / 1000
  const left = feed
  feed = undefined
  left.destroy()
  process.stdout.write(`${JSON.stringify({ bytes: bytes / seconds, rounds: rounds / seconds })}\n`)
}
for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...rest] = line.split(' ')
  if (word === 'open') open(...rest)
  else if (word === 'end') end()
  else {
    since = performance.now()
    bytes = rounds = 0
  }
}
process.exit(0)
