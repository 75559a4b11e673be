// Mail for sharded actors goes to the region of its kind; what no node writes, or is for a kind that is not registered here, to nobody.

import type { Meta, SystemCore } from '@troupe/core/internal'
import type { Mail, Post } from '../node/post.ts'
import { readSessionText, type Session } from '../values/session.ts'
import type { EntityRefs } from '../node/entity-refs.ts'
import type { Credits } from './credits.ts'
import { readItem } from './letter.ts'
import { refuseFor } from './refusal.ts'
import type { Region } from './region.ts'
import type { ShardEpoch } from './settling.ts'
import type { EntityWatchers } from './watchers.ts'

export function sortShardMail(
  core: SystemCore,
  post: Post,
  regions: ReadonlyMap<string, Region>,
  entities: EntityRefs,
  credits: Credits,
  watchers: EntityWatchers,
): void {
  const regionOf = (mail: Mail): Region | undefined => regions.get(String(mail[1]))
  const came = (mail: Mail, meta: Meta): void => {
    if (mail[0] !== 'letter') core.ledger.handled++
    const item = readItem(mail, meta)
    const region = regionOf(mail)
    // A watch that was sent again may be here.
    if (item?.item.is === 'watch' && region !== undefined && !watchers.came(item.item)) return
    if (item !== undefined && region !== undefined) region.came(item)
    else if (item?.item.is === 'letter') refuseFor(core, credits, entities.ref(item.kind, item.item.id), item.item, 'unknown-kind')
    else if (mail[0] === 'letter') core.bury(mail[6], meta, undefined, region === undefined ? 'unknown-kind' : 'not-accepted')
  }
  const returned = (mail: Mail, meta: Meta): void => {
    const item = readItem(mail, meta)
    if (item?.item.is === 'letter') regionOf(mail)?.returned(item)
    else core.drop(mail, meta, 'drain')
  }
  post.on('letter', { came, returned })
  post.on('barrier', { came, returned })
  post.on('watch', { came })
  const known = (act: (region: Region, session: Session) => Promise<void>) => (kind: unknown, name: unknown) => {
    const session = readSessionText(String(name))
    const region = regions.get(String(kind))
    return session === undefined || region === undefined ? undefined : act(region, session)
  }
  post.answer(
    'leaving',
    known((region, session) => region.leaving(session)),
  )
  post.answer(
    'left',
    known((region, session) => region.left(session)),
  )
  post.answer('unsettled', (kind, shards) => regions.get(String(kind))?.unsettled(readShards(shards)))
  post.on('broken', {
    came: () => {
      core.ledger.handled++
      for (const region of regions.values()) region.broken()
    },
  })
  post.on('ready', {
    came: (mail) => {
      core.ledger.handled++
      regionOf(mail)?.passed(Number(mail[2]), Number(mail[3]))
    },
  })
}

/** What no node writes is left out. */
function readShards(shards: unknown): readonly ShardEpoch[] {
  const isShard = (pair: unknown): pair is ShardEpoch => Array.isArray(pair) && Number.isSafeInteger(pair[0]) && Number.isSafeInteger(pair[1])
  return Array.isArray(shards) ? shards.filter(isShard) : []
}
