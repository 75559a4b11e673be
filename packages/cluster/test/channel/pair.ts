// Sessions with channels between them over a simulated network, that push numbered payloads and note what arrives.

import { seeded } from '@troupe/testkit'
import { Channels, type ChannelsOptions } from '../../src/channel/channels.ts'
import { MemoryHub } from '../../src/engines/memory/hub.ts'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { NodeTiming, VirtualTiming } from '../../src/testing/virtual-timing.ts'
import { type Session, sessionText } from '../../src/values/session.ts'
import { ownVersions } from '../../src/values/versions.ts'

export class Side {
  readonly self: Session
  readonly timing: NodeTiming
  readonly channels: Channels
  /** By sender: the numbers that arrived, in order. */
  readonly got = new Map<string, number[]>()
  readonly closed: string[] = []
  /** By receiver: the last number that had been pushed when this side last heard of the end of a connection to it. */
  readonly #uncertain = new Map<string, number>()
  readonly wire: ReturnType<typeof connectTo>['wire']
  readonly #sent = new Map<string, number>()

  constructor(net: Net, node: string, options: Partial<ChannelsOptions> = {}) {
    this.self = { node, number: 1 }
    this.timing = new NodeTiming(net.timing)
    this.wire = connectTo(net.hub, { node, timing: this.timing }).wire
    this.channels = new Channels({
      timing: this.timing,
      wire: this.wire,
      versions: ownVersions,
      versionsOf: (session) => (net.sides.has(session.node) ? ownVersions : undefined),
      onRecord: (from, record) => {
        if (record.kind !== 'payload') return
        const list = this.got.get(from.node) ?? []
        this.got.set(from.node, list)
        list.push(new DataView(record.bytes.buffer, record.bytes.byteOffset).getUint32(0))
      },
      onClosed: (peer, why, detail) => {
        this.#uncertain.set(peer.node, this.#sent.get(peer.node) ?? 0)
        this.closed.push(`${sessionText(peer)} ${why}: ${detail}`)
      },
      ...options,
    })
    void this.channels.open(this.self)
  }

  /** Pushes the next number, in a payload of this size. */
  push(to: Side, size = 4): ReturnType<Channels['push']> {
    const n = (this.#sent.get(to.self.node) ?? 0) + 1
    const bytes = new Uint8Array(size)
    new DataView(bytes.buffer).setUint32(0, n)
    const taken = this.channels.push(to.self, { kind: 'payload', bytes })
    if (taken === 'taken') this.#sent.set(to.self.node, n)
    return taken
  }

  sentTo(to: Side): number {
    return this.#sent.get(to.self.node) ?? 0
  }

  /** What was pushed up to this number may be lost with a connection whose end this side was told of; what came after must arrive. */
  uncertainTo(to: Side): number {
    return this.#uncertain.get(to.self.node) ?? 0
  }

  gotFrom(from: Side): readonly number[] {
    return this.got.get(from.self.node) ?? []
  }
}

export class Net {
  readonly timing: VirtualTiming
  readonly random: () => number
  readonly hub: MemoryHub
  readonly sides = new Map<string, Side>()

  constructor(seed: number) {
    this.random = seeded(seed)
    this.timing = new VirtualTiming(seeded(seed + 1))
    this.hub = new MemoryHub(this.timing)
  }

  side(node: string, options: Partial<ChannelsOptions> = {}): Side {
    const side = new Side(this, node, options)
    this.sides.set(node, side)
    return side
  }
}
