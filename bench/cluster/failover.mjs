// How long what a killed node had is away, and how soon its shards are taken over, with nodes in processes of their own.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { connect } from '@nats-io/transport-node'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { startNats } from '../../tools/engines/nats.mjs'

const program = fileURLToPath(new URL('./failing.mjs', import.meta.url))
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function boot(given) {
  const child = fork(program, [JSON.stringify(given)])
  const waiting = new Map()
  child.on('message', ([word, value]) => {
    const resolve = waiting.get(word)
    waiting.delete(word)
    resolve?.(value)
  })
  const heard = (word) => new Promise((resolve) => waiting.set(word, resolve))
  return {
    child,
    up: heard('up'),
    heard,
    gone: new Promise((resolve) => child.once('exit', resolve)),
    state() {
      const answer = heard('state')
      child.send(['state'])
      return answer
    },
  }
}
async function kill({ child, gone }) {
  child.kill('SIGKILL')
  await gone
}

/** Milliseconds from each kill until every id of the killed node is answered by another. */
export async function failovers(found, { lease, kills }) {
  const server = await startNats(found)
  const given = { url: server.url, lease, shards: 32, ids: 24 }
  const start = async (node) => {
    const one = boot({ ...given, node })
    await one.up
    return one
  }
  const [watcher, second] = [await start('a'), await start('b')]
  const times = []
  let nodes = [watcher, second]
  try {
    for (let n = 0; n < kills; n++) {
      const victim = await start(`c${n}`)
      nodes = [watcher, second, victim]
      // It has its share, and each id was answered there.
      let state
      do await after(100)
      while (!(state = await watcher.state()).ids.some(([, [by]]) => by === `c${n}`) || (await balance(nodes)) !== 32)
      await after(300)
      const mine = (await watcher.state()).ids.filter(([, [by]]) => by === `c${n}`).map(([id]) => id)
      const at = Date.now()
      await kill(victim)
      for (;;) {
        await after(20)
        state = new Map((await watcher.state()).ids)
        if (mine.every((id) => state.get(id)[0] !== `c${n}`)) break
      }
      times.push(Math.max(...mine.map((id) => state.get(id)[1])) - at)
    }
  } finally {
    for (const node of nodes) await kill(node)
    await server.end()
  }
  return times
}
async function balance(nodes) {
  const states = await Promise.all(nodes.map((node) => node.state()))
  return states.every(({ active }) => active > 0) ? states.reduce((sum, { active }) => sum + active, 0) : 0
}

/** From when a node hears of the end of another until it runs all shards of that one; and what writing them takes alone. */
export async function takeOver(found, about) {
  const server = await startNats(found)
  const given = { url: server.url, lease: 5_000, shards: 2 * about, ids: 0 }
  try {
    const [a, b] = [boot({ ...given, node: 'a' }), boot({ ...given, node: 'b' })]
    await Promise.all([a.up, b.up])
    // Each has about half of them, and none is on its way.
    let shards
    do {
      await after(100)
      shards = (await b.state()).active
    } while (shards < about * 0.75 || (await balance([a, b])) !== given.shards)
    await kill(b)
    const all = a.heard('all')
    a.child.send(['watch'])
    const { at, endedAt } = await all
    await kill(a)
    return { shards, ms: at - endedAt.at, raw: await writes(server.url, shards) }
  } finally {
    await server.end()
  }
}

async function writes(url, count) {
  const client = await connect({ servers: url })
  await new Kvm(client).create('raw')
  const js = jetstream(client)
  const since = performance.now()
  for (let at = 0; at < count; at += 64)
    await Promise.all(
      Array.from({ length: Math.min(64, count - at) }, (_, i) =>
        js.publish(`$KV.raw.own.place.${at + i}`, '{}', { expect: { lastSubjectSequence: 0 } }),
      ),
    )
  const ms = performance.now() - since
  await client.close()
  return ms
}
