// A node of the measurement of failovers: sharded actors that say where they are, driven from here; killed by whoever started it.

import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'

const { node, url, lease, shards, ids } = JSON.parse(process.argv[2])
const quiet = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }
const system = ActorSystem.create(node, { logger: quiet })
const cluster = await Cluster.join(system, { name: 'bench', node, engine: nats({ servers: url }), lease })
const kind = cluster.sharded(
  'place',
  () =>
    receive((_ctx, m) => {
      m.replyTo.tell(node)
      return same
    }),
  { shards },
)
await kind.ready
/** When each id was last answered, and by whom. */
const seen = new Map()
const drive = async (id) => {
  for (;;) {
    try {
      seen.set(id, [await kind.ref(id).ask({ type: 'where' }, { timeout: 30_000 }), Date.now()])
    } catch {}
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
for (let i = 0; i < ids; i++) void drive(`id-${i}`)
// Date.now is the one clock that all processes of a machine share.
let endedAt
cluster.events.listen(({ type, member }) => {
  if (type === 'ended') endedAt = { node: member.session.node, at: Date.now() }
})
process.on('message', ([word, other]) => {
  if (word === 'state') process.send(['state', { active: kind.active.length, members: cluster.members.length, ids: [...seen], endedAt }])
  if (word === 'watch') {
    const look = () => {
      if (kind.active.length === shards) process.send(['all', { at: Date.now(), endedAt }])
      else setTimeout(look, 5)
    }
    void other
    look()
  }
})
process.send(['up'])
