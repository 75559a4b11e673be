// What stands around every persistent actor, whatever it keeps and in whichever style it is written: its start is a recovery, its end
// waits for what is in flight, and it refuses what would let something leave beside the gate.

import { type ActorContext, type Behavior, NotAllowed, supervise, type SupervisionPolicy, unhandled } from '@troupe/core'
import { BehaviorNode, BehaviorWithOptions, type Cell, cellOf, endless, extensionOf } from '@troupe/core/internal'
import type { Gated } from './gated.ts'
import { Hub } from './hub.ts'
import { isPermanent } from './recovery.ts'

/** The name under which persistence joins a system. */
export const extensionName = 'persistence'

/** A journal that is away comes back, and a command that threw is not repeated: restarts have no limit, but wait longer and longer. */
const patient: SupervisionPolicy = supervise({
  decide: (cause) => (isPermanent(cause) || (cause as { kind?: unknown } | null)?.kind === 'permanent' ? 'stop' : 'restart'),
  limit: { restarts: Number.MAX_SAFE_INTEGER, within: 1000 },
  backoff: { min: 20, max: 10_000 },
  retryStart: true,
})
const options = { startTimeout: endless, supervision: patient } as const

/** What persistence keeps for the system that an actor is of. */
export function hubOf(ctx: ActorContext<never>, id: string): { readonly hub: Hub; readonly cell: Cell } {
  const cell = cellOf(ctx.self)
  const hub = cell === undefined ? undefined : extensionOf(ctx.system, extensionName)
  if (cell === undefined || !(hub instanceof Hub))
    throw new NotAllowed(
      `Cannot start ${id}: its system has no journal. Write ActorSystem.create(name, { extensions: [persistence({ journal })] }); actors on other threads have none.`,
    )
  const writer = hub.writerFor(cell)
  if (writer === undefined)
    throw new NotAllowed(
      `Cannot start ${id}: it is a sharded actor of a kind that is not said to be persistent, and so has no fence. Write cluster.sharded(kind, make, { persistent: true }).`,
    )
  if (cell.options.reentrant)
    throw new NotAllowed(`Cannot start ${id}: a persistent actor cannot be reentrant, for its commands are synchronous. Leave that option out.`)
  if (cell.options.startTimeout !== endless)
    throw new NotAllowed(
      `Cannot start ${id}: a persistent actor takes as long as its events do. Leave startTimeout out; recovery.timeout says how long nothing may happen.`,
    )
  return { hub: writer, cell }
}

/** The behavior of a persistent actor: `make` gives what stands behind the gate. */
export function gatedBehavior<M>(kind: string, make: (ctx: ActorContext<never>) => Gated): Behavior<M> {
  const start = async (ctx: ActorContext<never>): Promise<BehaviorNode> => {
    const gated = make(ctx)
    await gated.hub.recover(gated)
    return running(gated, undefined)
  }
  return withGateOptions(kind, new BehaviorNode('setup', start as never, undefined))
}

/** The kind is what figures and pages call such actors, unless whoever spawns one says otherwise. */
export function withGateOptions<M>(kind: string, node: BehaviorNode): Behavior<M> {
  let shared = ofKind.get(kind)
  if (shared === undefined) ofKind.set(kind, (shared = { ...options, kind }))
  return new BehaviorWithOptions(node, shared)
}
/** One for all actors of a kind. */
const ofKind = new Map<string, typeof options & { readonly kind: string }>()

/** The behavior once it has recovered; `heard` are the hooks of a class. */
export function running(gated: Gated, heard: BehaviorNode['signal']): BehaviorNode {
  let orderly = false
  const signal = (ctx: never, s: Parameters<NonNullable<BehaviorNode['signal']>>[1]): unknown => {
    const others = (): unknown => (heard === undefined ? unhandled : gated.hear(() => heard(ctx, s)))
    switch (s.type) {
      case 'PreStop':
        orderly = true
        // An orderly end lets out what is held, as far as it has the time.
        return gated.idle
          ? others()
          : gated.barrier().then(
              () => others(),
              () => others(),
            )
      case 'PreRestart': {
        const heardIt = others()
        gated.end(false)
        return heardIt
      }
      case 'PostStop': {
        const heardIt = others()
        gated.end(!orderly)
        return heardIt
      }
      default:
        return others()
    }
  }
  return new BehaviorNode('receive', (ctx: ActorContext<never>, message: unknown) => gated.handle(ctx, message), signal)
}
