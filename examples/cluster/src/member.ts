// The process of one node, which is killed and paused. It is told over its channel when to leave, and ends when whoever started it is gone, or when its
// session has ended: then it knows nothing that the journal does not know, and begins anew.

import { nats } from '@troupe/cluster'
import { joinAsNode } from './node.ts'
import { journalAt, type Place } from './store.ts'

/** What a member is told when it starts. */
export interface Orders {
  readonly node: string
  readonly servers: string
  readonly place: Place
  readonly lease: number
}

/** What it says. */
export type News = { readonly news: 'joined' } | { readonly news: 'ended'; readonly why: string }

const { node, servers, place, lease } = JSON.parse(process.argv[2]!) as Orders
// Ctrl-C in a terminal reaches all processes; who leaves when is decided by the one that started us.
process.on('SIGINT', () => {})

const tell = (news: News): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send!(news, () => resolve())
    else resolve()
  })

try {
  const { cluster, system } = await joinAsNode({ node, engine: nats({ servers }), journal: journalAt(place), lease, logger: false })
  const leave = async (): Promise<void> => {
    await cluster.leave()
    await system.shutdown()
    process.exit(0)
  }
  process.once('message', () => void leave())
  process.once('disconnect', () => void leave())
  void cluster.ended.then(async (cause) => {
    if (cause === undefined) return
    await tell({ news: 'ended', why: (cause as Error).message })
    await system.shutdown()
    process.exit(1)
  })
  await tell({ news: 'joined' })
} catch (cause) {
  await tell({ news: 'ended', why: (cause as Error).message })
  process.exit(1)
}
