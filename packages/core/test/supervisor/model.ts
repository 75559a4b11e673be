// A supervisor as a textbook would write it: one function call per happening, everything done before it returns. It
// knows neither actors nor time beyond a number, and shares no code with the library. Restarts without backoff only.

export interface WorkerPlan {
  readonly restart: 'permanent' | 'transient' | 'temporary'
  readonly significant: boolean
  /** Which of the siblings declared before it are needed, as a mask. */
  readonly needs: number
  /** Whether it holds the refs of those it needs. */
  readonly holds?: boolean
}
export interface SupervisorPlan {
  readonly strategy: 'one-for-one' | 'all-for-one' | 'rest-for-one' | 'dependents'
  readonly intensity: number
  readonly autoShutdown: 'never' | 'any-significant' | 'all-significant'
  readonly children: readonly ChildPlan[]
}
export interface ChildPlan extends WorkerPlan {
  /** Undefined for a worker. */
  readonly inner: SupervisorPlan | undefined
}

/** Whether the child at this place holds refs: where that is allowed, and there is one to hold. */
export function holdsRefs({ strategy, children }: SupervisorPlan, i: number): boolean {
  const { holds, inner, needs } = children[i]!
  const needed = children.slice(0, i).filter((_, n) => (needs >> n) & 1)
  return holds === true && inner === undefined && strategy !== 'one-for-one' && needed.length > 0 && needed.every((o) => o.restart !== 'temporary')
}

export const letters = ['a', 'b', 'c', 'd'] as const
export const period = 1000

export class World {
  now = 0
  lines: string[] = []
  /** Set when the order of lines is not promised, only which there are. */
  loose = false
  /** Set when what follows depends on an order that nothing promises. */
  unspecified = false
  lives = 0
  readonly failStarts = new Map<string, number>()
}

export class ModelChild {
  up = false
  /** Which of all lives this is; a restart in place goes on with the same. */
  life = 0
  gone = true
  sup: ModelSupervisor | undefined
  /** The lives of those whose refs it holds, by name. */
  held = new Map<string, number>()
  readonly name: string
  readonly path: string
  readonly plan: ChildPlan
  readonly needs: readonly string[]
  constructor(name: string, path: string, plan: ChildPlan, needs: readonly string[]) {
    this.name = name
    this.path = path
    this.plan = plan
    this.needs = needs
  }
}

export class ModelSupervisor {
  children: ModelChild[]
  restarts: number[] = []
  readonly plan: SupervisorPlan
  readonly path: string
  readonly world: World
  /** Tells whoever is above that this one has ended. */
  readonly ended: (how: 'shutdown' | 'failure') => void
  constructor(plan: SupervisorPlan, path: string, world: World, ended: (how: 'shutdown' | 'failure') => void) {
    this.plan = plan
    this.path = path
    this.world = world
    this.ended = ended
    this.children = plan.children.map((c, i) => {
      const name = letters[i]!
      const needs = letters.slice(0, i).filter((_, n) => (c.needs >> n) & 1)
      return new ModelChild(name, path === '' ? name : `${path}/${name}`, { ...c, holds: holdsRefs(plan, i) }, needs)
    })
  }

  boot(): boolean {
    for (const c of this.children)
      if (!this.start(c)) {
        this.close()
        return false
      }
    return true
  }

  start(c: ModelChild): boolean {
    const { world } = this
    if (!this.canHold(c)) {
      // What makes the child throws: an actor that waited goes on to fail, and where there was none, none is made.
      return false
    }
    if (c.gone) c.life = ++world.lives
    c.gone = false
    c.held = new Map(this.holdsOf(c).map((o) => [o.name, o.life]))
    if (c.plan.inner !== undefined) {
      c.sup = new ModelSupervisor(c.plan.inner, c.path, world, (how) => this.exit(c, how))
      c.up = c.sup.boot()
      return c.up
    }
    const failures = world.failStarts.get(c.path) ?? 0
    if (failures > 0) world.failStarts.set(c.path, failures - 1)
    world.lines.push(`${failures > 0 ? '!' : '+'}${c.path}`)
    c.up = failures === 0
    return c.up
  }

  /** Those whose refs a child is given when it starts. */
  holdsOf(c: ModelChild): ModelChild[] {
    return c.plan.holds === true ? this.children.filter((o) => c.needs.includes(o.name)) : []
  }
  /** Whether all of those have an actor. */
  canHold(c: ModelChild): boolean {
    return c.plan.holds !== true || (this.holdsOf(c).length === c.needs.length && this.holdsOf(c).every((o) => !o.gone))
  }
  /** Whoever holds the ref of an actor that was replaced begins anew. */
  renew(replaced: ModelChild): void {
    const stale = this.children.filter((c) => c.up && c.held.has(replaced.name) && c.held.get(replaced.name) !== replaced.life)
    for (const c of stale.toReversed()) {
      if (c.plan.restart === 'temporary') this.stop(c)
      else this.rest(c)
    }
    for (const [i, c] of stale.entries()) {
      if (c.plan.restart === 'temporary' || this.start(c)) continue
      const again = this.group(c)
      if (stale.slice(i).some((o) => !again.includes(o))) this.world.unspecified = true
      return this.restart(c)
    }
  }

  /** Ends the present incarnation. */
  rest(c: ModelChild): void {
    if (!c.up) return
    c.up = false
    if (c.sup === undefined) this.world.lines.push(`-${c.path}`)
    else c.sup.close()
  }

  /** Ends a child for good. */
  stop(c: ModelChild): void {
    this.rest(c)
    c.gone = true
    if (c.plan.restart === 'temporary') this.children = this.children.filter((o) => o !== c)
  }

  close(): void {
    for (const c of this.children.toReversed()) this.stop(c)
  }

  /** A child has ended by itself; after a failure it is not at rest yet. */
  exit(c: ModelChild, how: 'normal' | 'shutdown' | 'killed' | 'failure'): void {
    if (how !== 'failure') {
      c.up = false
      c.gone = true
    }
    const abnormal = how === 'killed' || how === 'failure'
    if (c.plan.restart === 'permanent' || (c.plan.restart === 'transient' && abnormal)) return this.restart(c)
    this.stop(c)
    if (!c.plan.significant || this.plan.autoShutdown === 'never') return
    if (
      this.plan.autoShutdown === 'all-significant' &&
      this.children.some((o) => o !== c && o.plan.significant && o.plan.restart !== 'permanent' && o.up)
    )
      return
    this.close()
    this.ended('shutdown')
  }

  restart(trigger: ModelChild): void {
    const { world } = this
    this.restarts = [...this.restarts.filter((at) => world.now - at <= period), world.now]
    if (this.restarts.length > this.plan.intensity) {
      this.close()
      return this.ended('failure')
    }
    const group = this.group(trigger)
    this.rest(trigger)
    for (const c of group.toReversed()) {
      if (c === trigger) continue
      if (c.plan.restart === 'temporary') this.stop(c)
      else this.rest(c)
    }
    for (const c of group) {
      if (c.up || (c !== trigger && c.plan.restart === 'temporary')) continue
      if (this.start(c)) continue
      const again = this.group(c)
      // Those that do not need it go on beside its retry: no order is promised, and this model knows no two at once.
      if (group.slice(group.indexOf(c)).some((o) => !again.includes(o))) world.unspecified = true
      return this.restart(c)
    }
  }

  group(c: ModelChild): ModelChild[] {
    switch (this.plan.strategy) {
      case 'one-for-one':
        return [c]
      case 'all-for-one':
        return [...this.children]
      case 'rest-for-one':
        return this.children.slice(this.children.indexOf(c))
      case 'dependents': {
        const names = [c.name]
        return this.children.filter((o) => o === c || (o.needs.some((n) => names.includes(n)) && names.push(o.name) > 0))
      }
    }
  }
}
