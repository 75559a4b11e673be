// The keys by which nodes say that they have a kind: this node's own, and those of nodes that are gone, which somebody has to clear away.

import type { Registry } from '../ports/registry.ts'
import { RegistryConflict, RegistryUnavailable } from '../values/errors.ts'
import type { Session } from '../values/session.ts'
import { hostKey, writeHost } from './hosts.ts'

/** A key of a host as it was seen. */
export interface HostSeen {
  readonly session: Session
  readonly key: string
  readonly revision: number
}

export class HostKeys {
  readonly #registry: Registry
  readonly #self: Session
  readonly #key: string
  /** Whether the registry says that this node has the kind. */
  #declared = true

  constructor(registry: Registry, kind: string, self: Session) {
    this.#registry = registry
    this.#self = self
    this.#key = hostKey(kind, self.node)
  }

  /** Says that this node has the kind, whatever stands there. */
  async write(): Promise<void> {
    const value = writeHost(this.#self.number)
    for (;;) {
      const there = await this.#registry.read(this.#key)
      if (there?.value === value) return
      try {
        await (there === undefined ? this.#registry.create(this.#key, value) : this.#registry.update(this.#key, value, there.revision))
        return
      } catch (cause) {
        if (!(cause instanceof RegistryConflict)) throw cause
      }
    }
  }

  /** Says whether this node has the kind, where the registry does not say so yet. */
  async declare(isHost: boolean): Promise<void> {
    if (this.#declared === isHost) return
    if (isHost) await this.write()
    else if (!(await this.remove())) return
    this.#declared = isHost
  }

  /** Says that it has the kind no more; false where that is not certain: the registry is away, or somebody wrote there meanwhile. */
  async remove(): Promise<boolean> {
    try {
      const there = await this.#registry.read(this.#key)
      if (there?.value === writeHost(this.#self.number)) await this.#registry.remove(this.#key, there.revision)
      return true
    } catch (cause) {
      if (cause instanceof RegistryConflict || cause instanceof RegistryUnavailable) return false
      throw cause
    }
  }

  /** Removes what sessions left behind that have ended: names of nodes may be as many as there were starts. Fails with `RegistryUnavailable`. */
  async sweep(seen: readonly HostSeen[], hasEnded: (session: Session) => Promise<boolean>): Promise<void> {
    for (const { session, key, revision } of seen) {
      if (!(await hasEnded(session))) continue
      try {
        await this.#registry.remove(key, revision)
      } catch (cause) {
        if (!(cause instanceof RegistryConflict)) throw cause
      }
    }
  }
}
