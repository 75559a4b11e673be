// An actor that runs on this thread while its parent lives on another: a cell as any other, under a parent that stands
// for the real one. Nothing is decided here: each turn of its life is reported to where its parent is, and that decides.

import { type Behavior, measured, type MeasuredOptions, type SpawnOptions } from '@troupe/core'
import {
  behaviorFrom,
  type BehaviorNode,
  BehaviorWithOptions,
  Cell,
  type CellOptions,
  Children,
  declareEndless,
  Extras,
  HookedNode,
  type CellSupervisor,
  LocalRef,
  releaseHeld,
  resolveOptions,
} from '@troupe/core/internal'
import type { Crossing } from '../way/crossing.ts'
import type { SpawnOrder } from '../way/control.ts'
import { definitionOf } from './define-actor.ts'
import { NotOnThread } from '../errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type Load, loadExport } from './loading.ts'

/** An actor that runs here for a parent elsewhere. */
export class HostedCell extends Cell {
  readonly crossing: Crossing
  /** Makes its behavior with other arguments. */
  readonly make: (args: readonly unknown[]) => Behavior<unknown>
  constructor(ref: LocalRef, exchange: Exchange, options: CellOptions, node: BehaviorNode, crossing: Crossing, make: HostedCell['make']) {
    super(ref, exchange.core.dispatchers.fallback, options, node)
    this.crossing = crossing
    this.make = make
  }
}

/** Takes orders to make actors here, and reports what becomes of them. */
export function hostActors(exchange: Exchange, load: Load = loadExport): void {
  exchange.on('hosted.spawn', (order, crossing) => void spawnHosted(exchange, crossing, order, load))
  const by = (within: number): number => exchange.core.runtime.now() + within
  exchange.on('hosted.restart', ({ uid, cause, within }) => exchange.residents.hosted(uid)?.command({ verb: 'hold', cause, above: by(within) }))
  exchange.on('hosted.stop', ({ uid, reason, cause, within }) => {
    exchange.residents.stopExpected(uid)
    exchange.residents.hosted(uid)?.command({ verb: 'stop', reason, cause, above: by(within) })
  })
  exchange.on('hosted.release', ({ uid, args }) => {
    const cell = exchange.residents.hosted(uid)
    if (cell === undefined) return
    if (args !== undefined) cell.remake(() => cell.make(args))
    if (cell.phase === 'failed') cell.command({ verb: 'restart', cause: undefined, delay: 0 })
    else releaseHeld(cell)
  })
}

/** Lets the stubs of this thread hear what the threads of their actors report. */
export function followHosted(exchange: Exchange): void {
  exchange.on('stub.started', ({ uid }) => exchange.residents.stub(uid)?.started())
  exchange.on('stub.failed', ({ uid, cause, message }) => exchange.residents.stub(uid)?.failed(cause, message))
  exchange.on('stub.held', ({ uid }) => exchange.residents.stub(uid)?.held())
  exchange.on('stub.endless', ({ uid }) => {
    const stub = exchange.residents.stub(uid)
    if (stub !== undefined) declareEndless(stub)
  })
  exchange.on('stub.ended', ({ uid, reason, cause }) => exchange.residents.stub(uid)?.ended(reason, cause))
}

async function spawnHosted(exchange: Exchange, crossing: Crossing, order: SpawnOrder, load: Load): Promise<void> {
  const { uid } = order
  // Verbs that come while the module loads are for the actor, not for nobody; and a module may never be loaded.
  let stopped = false
  exchange.residents.expect(uid, () => {
    stopped = true
    exchange.whereabouts.neverCame(uid, order.path, { reason: 'killed', cause: undefined })
    crossing.control({ op: 'stub.ended', uid, reason: 'killed', cause: undefined })
  })
  try {
    const definition = await load(order.definition)
    if (stopped) return
    exchange.residents.expectNoMore(uid)
    makeHosted(exchange, crossing, order, definition)
  } catch (cause) {
    if (stopped) return
    exchange.residents.expectNoMore(uid)
    // No cell ever was: the failure is told, and then that there is nothing.
    crossing.control({ op: 'stub.failed', uid, cause, message: undefined })
    crossing.control({ op: 'stub.ended', uid, reason: 'failure', cause })
    exchange.whereabouts.neverCame(uid, order.path, { reason: 'failure', cause })
  }
}

function makeHosted(exchange: Exchange, crossing: Crossing, order: SpawnOrder, definition: unknown): void {
  const { parent } = order
  if (typeof definition !== 'function') throw notAnActor(order)
  const make = (args: readonly unknown[]): Behavior<unknown> =>
    behaviorFrom in definition
      ? (definition[behaviorFrom] as (args: readonly unknown[]) => Behavior<unknown>).call(definition, args)
      : (definition as (...args: readonly unknown[]) => Behavior<unknown>)(...args)
  const made = make(order.args)
  const defined = behaviorFrom in definition ? { behavior: made, options: {} } : definitionOf(made)
  if (defined === undefined) throw notAnActor(order)
  let node: unknown = defined.behavior
  const given: SpawnOptions = {}
  const layers: SpawnOptions[] = [defined.options]
  for (; node instanceof BehaviorWithOptions; node = node.behavior) layers.push(node.options)
  // Inner ones first: outer ones win.
  for (const layer of layers.toReversed()) Object.assign(given, layer)
  // What is decided beside the parent stays there.
  const { name: _name, mailbox: _mailbox, dispatcher: _dispatcher, supervision: _supervision, placement: _placement, ...rest } = given
  // What measures does not go over, only that it is wanted.
  const { metrics, ...sent } = order.options as SpawnOptions & { readonly metrics?: MeasuredOptions }
  const resolved = resolveOptions({ ...rest, ...sent, ...(metrics === undefined ? undefined : { metrics: measured(metrics) }) }, exchange.core)
  const ref = refOf(node as BehaviorNode, order)
  const cell = new HostedCell(
    ref,
    exchange,
    { ...resolved, mailbox: { kind: 'hosted', create: () => exchange.makeMailbox() } },
    node as BehaviorNode,
    crossing,
    make,
  )
  cell.queue = exchange.makeMailbox()
  const extras = (cell.extras = new Extras())
  extras.keeper = reporter(exchange, crossing)
  extras.incarnation = order.incarnation
  extras.flight = exchange.core.flightRecorder?.open({ ref, spawned: behaviorFrom in definition ? definition : made, args: order.args })
  cell.options.metrics?.begin(cell as never)
  const above = parent.cell
  ;((above.extras ??= new Extras()).children ??= new Children()).add(cell)
  exchange.residents.host(cell)
  cell.dispatcher.joined()
  exchange.core.born(cell)
  cell.dispatcher.enqueue(cell)
  exchange.whereabouts.arrived(cell)
}

function notAnActor({ definition: { url, name } }: SpawnOrder): NotOnThread {
  return new NotOnThread(`Export ${name} of ${url} is not an actor: define it with defineActor.`)
}

/** The actor's ref on its own thread; that of a class has the methods of the class. */
function refOf(node: BehaviorNode, { parent, path, uid }: SpawnOrder): LocalRef {
  const make = node instanceof HookedNode ? node.makeRef : undefined
  const name = path.slice(path.lastIndexOf('/') + 1)
  return make === undefined ? new LocalRef(parent, name, uid) : (make(parent as never, name, uid) as LocalRef)
}

function reporter(exchange: Exchange, crossing: Crossing): CellSupervisor {
  return {
    started: (cell) => crossing.control({ op: 'stub.started', uid: cell.ref.uid }),
    failed: (cell, cause, message) => {
      const first = (cause as { code?: unknown } | undefined)?.code === 'actor-initialization' && cell.phase === 'failed'
      crossing.control({ op: 'stub.failed', uid: cell.ref.uid, cause: first ? (cause as Error).cause : cause, message })
      return undefined
    },
    held: (cell) => crossing.control({ op: 'stub.held', uid: cell.ref.uid }),
    endless: (cell) => crossing.control({ op: 'stub.endless', uid: cell.ref.uid }),
    ended: (cell, end) => {
      exchange.residents.unhost(cell.ref.uid)
      exchange.residents.remember(cell)
      crossing.control({ op: 'stub.ended', uid: cell.ref.uid, reason: end.reason, cause: end.cause })
    },
  }
}
