// Nodes that join a simulated cluster, die, are paused and cut off, on one virtual clock; and the one rule that is checked at every write:
// whoever's end is recorded does not act in the name of that session, then or ever after.

import { seeded } from '@troupe/testkit'
import { MemoryHub } from '../../src/engines/memory/hub.ts'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { Membership, type MembershipOptions } from '../../src/membership/membership.ts'
import type { Connection } from '../../src/ports/engine.ts'
import { NodeTiming, VirtualTiming } from '../../src/testing/virtual-timing.ts'
import { readSession } from '../../src/values/member.ts'
import { sessionText } from '../../src/values/session.ts'

export const lease = 5_000

export class Life {
  readonly node: string
  readonly timing: NodeTiming
  readonly connection: Connection
  readonly events: { readonly at: number; readonly text: string }[] = []
  readonly troubles: string[] = []
  membership: Membership | undefined
  failed: unknown
  ended: unknown
  state: 'alive' | 'killed' | 'left' = 'alive'

  constructor(world: World, node: string, rate: number, options: Partial<MembershipOptions> & { readonly deaf?: boolean } = {}) {
    this.node = node
    this.timing = new NodeTiming(world.timing, rate)
    this.connection = connectTo(world.hub, { node, timing: this.timing })
    const { registry } = this.connection
    const { deaf, ...rest } = options
    if (deaf === true) registry.watch = () => ({ stop: () => {} })
    Membership.join({
      cluster: 'shop',
      node,
      lease,
      registry,
      timing: this.timing,
      clock: () => this.timing.bootNow(),
      wall: () => 1_000_000 + world.timing.now(),
      roles: [],
      wire: { oldest: 1, newest: 1 },
      maxMessageBytes: 4_194_304,
      onEvent: ({ type, member }) => this.events.push({ at: world.timing.now(), text: `${sessionText(member.session)} ${type}` }),
      onEnded: (cause) => (this.ended = cause),
      onTrouble: (text) => this.troubles.push(text),
      ...rest,
    }).then(
      (membership) => {
        this.membership = membership
        // It was told to while it was joining.
        if (this.state === 'left') this.leave()
      },
      (cause: unknown) => (this.failed = cause),
    )
  }

  get name(): string {
    return this.membership === undefined ? `${this.node}?` : sessionText(this.membership.self.session)
  }

  get members(): string[] {
    return this.membership?.members.map((member) => sessionText(member.session)) ?? []
  }

  get texts(): string[] {
    return this.events.map((event) => event.text)
  }

  kill(): void {
    this.timing.kill()
    this.state = 'killed'
    // Its sockets are closed by the host.
    void this.connection.close()
  }

  leave(): void {
    this.state = 'left'
    this.membership?.leave().catch(() => {})
  }
}

export class World {
  readonly timing: VirtualTiming
  readonly hub: MemoryHub
  readonly random: () => number
  readonly lives: Life[] = []
  /** Sessions whose end was recorded. */
  readonly over = new Set<string>()
  readonly wrong: string[] = []

  constructor(seed: number) {
    this.random = seeded(seed)
    this.timing = new VirtualTiming(seeded(seed + 1))
    this.hub = new MemoryHub(this.timing)
    const { store } = this.hub
    const [create, update] = [store.create.bind(store), store.update.bind(store)]
    store.create = (key, value, ttl) => {
      const revision = create(key, value, ttl)
      this.#wrote(key, value)
      return revision
    }
    store.update = (key, value, expected, ttl) => {
      const revision = update(key, value, expected, ttl)
      this.#wrote(key, value)
      return revision
    }
  }

  start(node: string, options: ConstructorParameters<typeof Life>[3] & { readonly rate?: number } = {}): Life {
    const { rate = 1, ...rest } = options
    const life = new Life(this, node, rate, rest)
    this.lives.push(life)
    return life
  }

  /** Those that are members and go on. */
  get living(): Life[] {
    return this.lives.filter((life) => life.state === 'alive' && life.membership !== undefined && life.ended === undefined)
  }

  async advance(ms: number): Promise<void> {
    // In steps, so that whoever acts after its end is seen doing so.
    for (let left = ms; left > 0; left -= 50) {
      await this.timing.advance(Math.min(50, left))
      this.check()
    }
  }

  check(): void {
    for (const life of this.lives)
      if (life.state !== 'killed' && life.membership?.held === true && this.over.has(life.name)) this.wrong.push(`${life.name} acts after its end`)
  }

  #wrote(key: string, value: string): void {
    if (!key.startsWith('session.')) return
    const node = key.slice(8)
    const record = readSession(value)
    if (record === undefined) return
    for (const life of this.lives) {
      if (life.node !== node || life.membership === undefined) continue
      const { number } = life.membership.self.session
      if (number > record.number || (number === record.number && !record.ended)) continue
      this.over.add(life.name)
    }
    if (record.ended) this.over.add(`${node}#${record.number}`)
    this.check()
  }
}
