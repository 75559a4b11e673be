// Three routers of one picture service: a pool that grows with the load, a cache in which each picture has its place, and
// mirrors of which the fastest answers.

import {
  type ActorRef,
  type ActorSystem,
  type Behavior,
  consistentHash,
  group,
  leastLoaded,
  pool,
  receive,
  resize,
  type RouterCommand,
  same,
  scatterGatherFirst,
  setup,
} from '@troupe/core'

/** A picture to be made smaller. */
export type Resize = { readonly type: 'resize'; readonly picture: string; readonly replyTo: ActorRef<string> }

/** A look into the cache. */
export type Lookup = { readonly type: 'lookup'; readonly picture: string; readonly replyTo: ActorRef<Found> }
export interface Found {
  readonly shard: string
  /** How often that shard was asked for this picture. */
  readonly times: number
}

/** Where a picture can be fetched. */
export type Fetch = { readonly type: 'fetch'; readonly picture: string; readonly replyTo: ActorRef<string> }

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const resizer: Behavior<Resize> = receive((ctx, { picture, replyTo }) => {
  // A picture that cannot be read breaks this routee only; the pool goes on.
  if (picture.endsWith('.broken')) throw new Error(`cannot read ${picture}`)
  replyTo.tell(`${picture} by ${nameOf(ctx.path)}`)
  return same
})

const shard: Behavior<Lookup> = setup((ctx) => {
  const seen = new Map<string, number>()
  return receive((_ctx, { picture, replyTo }) => {
    const times = (seen.get(picture) ?? 0) + 1
    seen.set(picture, times)
    replyTo.tell({ shard: nameOf(ctx.path), times })
    return same
  })
})

const mirror = (name: string, ms: number): Behavior<Fetch | { readonly type: 'ready'; readonly of: Fetch }> =>
  receive((ctx, m) => {
    if (m.type === 'fetch') ctx.timers.once(m.picture, ms, { type: 'ready', of: m })
    else m.of.replyTo.tell(`${m.of.picture} from ${name}`)
    return same
  })

export interface Service {
  readonly resizers: ActorRef<Resize | RouterCommand>
  readonly cache: ActorRef<Lookup | RouterCommand>
  readonly mirrors: ActorRef<Fetch | RouterCommand>
}

export function startService(system: ActorSystem): Service {
  const resizers = system.spawn(pool(resizer, { size: 2, strategy: leastLoaded(), options: { supervision: 'stop' } }), { name: 'resizers' })
  const cache = system.spawn(pool(shard, { size: 4, strategy: consistentHash<Lookup>((m) => m.picture) }), { name: 'cache' })
  const sites = [
    ['oslo', 30],
    ['rome', 10],
    ['perth', 200],
  ] as const
  const refs = sites.map(([name, ms]) => system.spawn(mirror(name, ms), { name }))
  const mirrors = system.spawn(group<Fetch>(refs, { strategy: scatterGatherFirst({ timeout: 100 }) }), { name: 'mirrors' })
  return { resizers, cache, mirrors }
}

/** More hands, for the evening. */
export function hireMore({ resizers }: Service, size: number): void {
  resizers.tell(resize(size))
}
