// What stands around every persistent actor, whatever it keeps and in whichever style it is written: its start is a recovery, its end
// waits for what is in flight, and it refuses what would let something leave beside the gate.

import { type ActorContext, type Behavior, type Signal, unhandled } from '@troupe/core'
import { BehaviorNode, BehaviorWithOptions, type Cell, type CellOptions, cellOf, disarmStep, endless, extensionOf } from '@troupe/core/internal'
import { finish, finishIncarnation, hasEffects } from './effect.ts'
import type { Gated } from './gated.ts'
import { Hub } from './hub.ts'
import { cannotStart, patient } from './patience.ts'

/** The name under which persistence joins a system. */
export const extensionName = 'persistence'

const options = { startTimeout: endless, supervision: patient } as const

/** What persistence keeps for the system that an actor is of. */
export function hubOf(ctx: ActorContext<never>, id: string): { readonly hub: Hub; readonly cell: Cell } {
  const cell = cellOf(ctx.self)
  const hub = cell === undefined ? undefined : extensionOf(ctx.system, extensionName)
  if (cell === undefined || !(hub instanceof Hub))
    throw cannotStart(
      id,
      `its system has no journal. Write ActorSystem.create(name, { extensions: [persistence({ journal })] }); actors on other threads have none.`,
    )
  const writer = hub.writerFor(cell)
  if (writer === undefined)
    throw cannotStart(
      id,
      `it is a sharded actor of a kind that is not said to be persistent, and so has no fence. Write cluster.sharded(kind, make, { persistent: true }).`,
    )
  if (cell.options.reentrant)
    throw cannotStart(id, `a persistent actor cannot be reentrant, for its commands are synchronous. Leave that option out.`)
  if (cell.options.startTimeout !== endless)
    throw cannotStart(
      id,
      `a persistent actor takes as long as its events do. Leave startTimeout out; recovery.timeout says how long nothing may happen.`,
    )
  shareOptions(writer, cell)
  return { hub: writer, cell }
}

/** Actors of a kind are mostly spawned alike, but for their names, and each has its options from `spawn` in an object of its own: one will do. */
function shareOptions(hub: Hub, cell: Cell): void {
  const { options: own } = cell
  const { kind = '' } = own
  let ofHub = spawned.get(hub)
  if (ofHub === undefined) spawned.set(hub, (ofHub = new Map()))
  const first = ofHub.get(kind)
  if (first === undefined) ofHub.set(kind, own)
  else if (first !== own && (Object.keys(own) as (keyof CellOptions)[]).every((option) => alike(own[option], first[option]))) cell.options = first
}
function alike(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || (Array.isArray(one) && Array.isArray(other) && one.length === 0 && other.length === 0)
}
/** By hub and kind, the options of the first. */
const spawned = new WeakMap<Hub, Map<string, CellOptions>>()

/** Makes what stands behind the gate. */
type Behind = (id: string, hub: Hub, cell: Cell) => Gated

/** The behavior of a persistent actor. */
export function gatedBehavior<M>(kind: string, id: string, behind: Behind): Behavior<M> {
  // Bound, as below: every actor keeps its start for restarts, and a function that is bound takes half of what a closure takes.
  return withGateOptions(kind, new BehaviorNode('setup', start.bind(behind, id) as never, undefined))
}
async function start(this: Behind, id: string, ctx: ActorContext<never>): Promise<BehaviorNode> {
  const { hub, cell } = hubOf(ctx, id)
  const gated = this(id, hub, cell)
  await hub.recover(gated)
  return new BehaviorNode('receive', handle.bind(gated), hear.bind(gated))
}
function handle(this: Gated, ctx: ActorContext<never>, message: unknown): unknown {
  return this.handle(ctx, message)
}
function hear(this: Gated, ctx: never, signal: Signal): unknown {
  return heardBy(this, ctx, signal, () => unhandled)
}

/** The kind is what figures and pages call such actors, unless whoever spawns one says otherwise. */
export function withGateOptions<M>(kind: string, node: BehaviorNode): Behavior<M> {
  let shared = ofKind.get(kind)
  if (shared === undefined) ofKind.set(kind, (shared = { ...options, kind }))
  return new GatedBehavior(node, shared)
}

/** The behavior of a kind, which a setup may return as well: what it needs of its actor's options is known before anything is read. */
class GatedBehavior<M> extends BehaviorWithOptions<M> {
  override adopt(starting: unknown): unknown {
    const cell = starting as Cell
    const { startTimeout, kind } = this.options
    // Its start is a recovery, which takes as long as its events do; what `spawn` was given besides stays.
    cell.options = { ...cell.options, startTimeout: startTimeout!, supervision: cell.options.supervision ?? patient, kind: cell.options.kind ?? kind }
    disarmStep(cell)
    return this.behavior
  }
  override onSignal(handler: Parameters<Behavior<M>['onSignal']>[0]): Behavior<M> {
    return new GatedBehavior(this.behavior.onSignal(handler), this.options)
  }
}
/** One for all actors of a kind. */
const ofKind = new Map<string, typeof options & { readonly kind: string }>()

/** The behavior of one that has recovered, and hears signals by the hooks of its class. */
export function running(gated: Gated, heard: BehaviorNode['signal']): BehaviorNode {
  const signal = (ctx: never, s: Signal): unknown => heardBy(gated, ctx, s, () => (heard === undefined ? unhandled : gated.hear(() => heard(ctx, s))))
  return new BehaviorNode('receive', handle.bind(gated), signal)
}

/** What the gate itself does at the edges of a life, around what others do. */
function heardBy(gated: Gated, ctx: ActorContext<never>, signal: Signal, others: () => unknown): unknown {
  switch (signal.type) {
    case 'PreStop':
      gated.orderly = true
      // An orderly end lets out what is held, as far as it has the time.
      return gated.idle && !hasEffects(gated.cell) ? others() : finish(gated, ctx).then(others, others)
    case 'PreRestart': {
      if (gated.idle && !hasEffects(gated.cell)) return endedBy(gated, others)
      const end = (): unknown => endedBy(gated, others)
      return finishIncarnation(gated, ctx).then(end, end)
    }
    case 'PostStop': {
      const heardIt = others()
      gated.end(!gated.orderly)
      return heardIt
    }
    default:
      return gated.whenDurable(others)
  }
}

/** What others do at the end of an incarnation, and then that. */
function endedBy(gated: Gated, others: () => unknown): unknown {
  const heard = others()
  gated.end(false)
  return heard
}
