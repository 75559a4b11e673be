// Does what a page does that shows one view: reads the feed, and asks what the view asks with each round. Between the line `begin` and the end
// of its input it counts; then it prints bytes and rounds a second as JSON.
//   node viewer.mjs <url> <view>

import { Agent, request } from 'node:http'

const [address, view] = process.argv.slice(2)
const url = new URL(address)
const headers = {
  host: url.host,
  origin: url.origin,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
  'x-troupe-token': url.hash.slice(1),
}
const agent = new Agent({ keepAlive: true })
const questions = {
  actors: ['/api/lines', { mode: 'tree', sort: 'trouble', filter: '', offset: 0, count: 160, opened: [], closed: [], full: [] }],
}

let bytes = 0
let rounds = 0
let since
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
    asked.on('error', reject)
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

process.stdin.on('data', () => {
  since = performance.now()
  bytes = rounds = 0
})
process.stdin.on('end', () => {
  const seconds = (performance.now() - since) / 1000
  process.stdout.write(`${JSON.stringify({ bytes: bytes / seconds, rounds: rounds / seconds })}\n`, () => process.exit(0))
})
await post('/api/feed', { view }, heard)
