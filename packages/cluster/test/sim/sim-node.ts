// A node of a simulated cluster: the real membership and the real channels on a place of a run, so that the seed decides what runs when, what
// is lost and late, and who is paused or killed; and failures are shrunk and drawn as those of one system are.

import type { SimPlace, Simulation } from '@troupe/testkit/internal'
import { Channels } from '../../src/channel/channels.ts'
import { MemoryHub } from '../../src/engines/memory/hub.ts'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { Membership } from '../../src/membership/membership.ts'
import type { Connection } from '../../src/ports/engine.ts'
import type { Timing } from '../../src/ports/timing.ts'
import { readSession } from '../../src/values/member.ts'
import { type Session, sessionText } from '../../src/values/session.ts'
import { ownVersions } from '../../src/values/versions.ts'

export const lease = 3_000

export function timingOf(sim: Simulation, place: SimPlace): Timing {
  return {
    now: () => sim.now,
    // What is plain comes last, so that a shrunk run has no faults.
    random: () => (15 - sim.choose(16)) / 16,
    timer: (ms, task) => place.after(ms, task),
    wake: (task) => place.soon(task),
  }
}

/** What arrived in all runs, and how many ends were recorded: a run in which nothing happens breaks no promise. */
export const tally = { arrived: 0, ends: 0 }

export class SimNode {
  readonly world: ClusterWorld
  readonly node: string
  readonly place: SimPlace
  readonly timing: Timing
  readonly connection: Connection
  membership: Membership | undefined
  channels: Channels | undefined
  /** `ended` is what it was told, `killed` and `left` what was done to it. */
  state: 'joining' | 'alive' | 'refused' | 'ended' | 'killed' | 'left' = 'joining'
  readonly sent = new Map<string, number>()
  readonly got = new Map<string, number>()
  readonly onMembers: (() => void)[] = []

  constructor(world: ClusterWorld, node: string) {
    this.world = world
    this.node = node
    this.place = world.sim.place(`${node}-${world.nodes.length}`)
    this.timing = timingOf(world.sim, this.place)
    this.connection = connectTo(world.hub, { node, timing: this.timing })
    this.#join().catch(() => {
      if (this.state === 'joining') this.state = 'refused'
    })
  }

  get name(): string {
    return this.membership === undefined ? `${this.node}?` : sessionText(this.membership.self.session)
  }

  /** Whether it is a member, as far as it knows, and runs. */
  get isUp(): boolean {
    return this.state === 'alive' && this.place.state !== 'gone'
  }

  async #join(): Promise<void> {
    const { sim } = this.world
    const membership = await Membership.join({
      cluster: 'sim',
      node: this.node,
      lease,
      registry: this.connection.registry,
      timing: this.timing,
      wall: () => 1_000 + sim.now,
      roles: [],
      wire: ownVersions,
      maxMessageBytes: 4_194_304,
      onEvent: ({ type, member }) => {
        sim.note(`${this.node} hears that ${sessionText(member.session)} ${type}`)
        if (type === 'ended') this.channels?.end(member.session)
        for (const tell of this.onMembers) tell()
      },
      onEnded: () => {
        sim.note(`${this.name} hears that it ended`)
        this.state = 'ended'
        void this.channels?.close()
      },
      onTrouble: () => {},
    })
    this.membership = membership
    this.channels = new Channels({
      timing: this.timing,
      wire: this.connection.wire,
      versions: ownVersions,
      limits: { window: 16_384, queue: 262_144 },
      versionsOf: (session) => {
        const member = membership.member(session.node)
        return member?.session.number === session.number ? member.wire : undefined
      },
      onRecord: (from, record) => {
        if (record.kind === 'marker') this.#arrived(from, record.cut)
      },
      onClosed: (peer, why) => {
        if (why === 'bad-frame' || why === 'reset') sim.violate('invariant', `K1: the channel of ${this.name} to ${sessionText(peer)} closed: ${why}`)
      },
    })
    await this.channels.open(membership.self.session)
    if (this.state === 'joining') this.state = 'alive'
    for (const tell of this.onMembers) tell()
  }

  /** Sends the next number to everybody it knows of. */
  talk(): void {
    if (!this.isUp) return
    for (const { session } of this.membership!.members) {
      if (session.node === this.node) continue
      const key = sessionText(session)
      const next = (this.sent.get(key) ?? 0) + 1
      if (this.channels!.push(session, { kind: 'marker', cut: next }) === 'taken') this.sent.set(key, next)
    }
  }

  kill(): void {
    this.world.sim.note(`${this.name} is killed`)
    this.state = 'killed'
    this.place.end()
    void this.connection.close()
  }

  leave(): void {
    if (this.state !== 'alive') return
    this.world.sim.note(`${this.name} leaves`)
    this.state = 'left'
    this.membership!.leave().then(
      () => this.channels!.close(),
      () => this.channels!.close(),
    )
  }

  #arrived(from: Session, n: number): void {
    const key = sessionText(from)
    const last = this.got.get(key) ?? 0
    if (n !== last + 1) this.world.sim.violate('invariant', `K1: ${this.name} got ${n} of ${key} after ${last}`)
    this.got.set(key, n)
    tally.arrived++
  }
}

export class ClusterWorld {
  readonly sim: Simulation
  readonly hub: MemoryHub
  readonly nodes: SimNode[] = []
  /** Sessions whose end was recorded. */
  readonly over = new Set<string>()

  constructor(sim: Simulation) {
    this.sim = sim
    this.hub = new MemoryHub(timingOf(sim, sim.home))
    const { store } = this.hub
    const update = store.update.bind(store)
    store.update = (key, value, expected, ttl) => {
      const revision = update(key, value, expected, ttl)
      const record = key.startsWith('session.') ? readSession(value) : undefined
      if (record?.ended === true) {
        this.over.add(`${key.slice(8)}#${record.number}`)
        tally.ends++
      }
      return revision
    }
    sim.always(() => {
      for (const node of this.nodes)
        if (node.place.state === 'running' && node.membership?.held === true && this.over.has(node.name))
          sim.violate('invariant', `K8: ${node.name} acts after its end was recorded`)
    })
  }

  start(name: string): SimNode {
    const node = new SimNode(this, name)
    this.nodes.push(node)
    return node
  }

  /** One of those that are up. */
  pick(): SimNode | undefined {
    const up = this.nodes.filter((node) => node.isUp)
    return up[this.sim.choose(up.length)]
  }

  /** Does something that goes wrong for a while, and rights itself. */
  strike(): void {
    const { sim, hub } = this
    const node = this.pick()
    if (node === undefined) return
    const ms = sim.oneOf([500, 100, 2_000, 4_000, 7_000])
    switch (sim.choose(6)) {
      case 0:
        sim.note(`${node.name} is paused for ${ms} ms`)
        node.place.hang()
        return sim.after(ms, () => node.place.goOn())
      case 1:
        sim.note(`${node.name} is cut off for ${ms} ms`)
        hub.isolate(node.node, true)
        return sim.after(ms, () => hub.isolate(node.node, false))
      case 2:
        sim.note(`the engine is away for ${ms} ms`)
        hub.outage(true)
        return sim.after(ms, () => hub.outage(false))
      case 3: {
        node.kill()
        return sim.after(ms, () => void this.start(node.node))
      }
      case 4: {
        node.leave()
        return sim.after(ms, () => void this.start(node.node))
      }
      default: {
        const other = this.pick()
        if (other === undefined || other === node) return
        sim.note(`the way between ${node.name} and ${other.name} is cut for ${ms} ms`)
        hub.cut(node.node, other.node, true)
        return sim.after(ms, () => hub.cut(node.node, other.node, false))
      }
    }
  }

  /** What must be so when all has been calm for a while. */
  expectAgreement(): void {
    const up = (): SimNode[] => this.nodes.filter((node) => node.isUp)
    this.sim.eventually('all that are up agree on who is a member', () => {
      const names = up()
        .map((node) => node.name)
        .toSorted()
        .join()
      return up().every((node) => node.membership!.held && node.membership!.members.map(({ session }) => sessionText(session)).join() === names)
    })
    this.sim.eventually('K1: all that was sent between two that are up has arrived', () =>
      up().every((from) => up().every((to) => from === to || (to.got.get(from.name) ?? 0) === (from.sent.get(to.name) ?? 0))),
    )
  }
}
