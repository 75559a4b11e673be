// A new actor under a parent. Everything that can be refused is refused before anything is changed, so that a spawn
// that fails leaves nothing behind; no user code runs here.

import { Children } from '../turn/children.ts'
import { type CellOptions, resolveOptions } from './options.ts'
import { takesMessages } from '../../deciders/phase.ts'
import { openMailbox } from '../../queues/own-kind.ts'
import { behaviorFrom } from '../../values/actor-class.ts'
import { type Behavior, BehaviorNode, SpawnOnly } from '../../values/behavior.ts'
import { checkObject, unreadable } from '../../values/checks.ts'
import { InvalidOption, NameTaken, NotABehavior, NotAllowed, SystemClosed } from '../../values/errors.ts'
import { endless, type SpawnOptions } from '../../values/options.ts'
import { checkName } from '../../values/path.ts'
import { Cell } from '../turn/cell.ts'
import { declareEndless } from '../life/ending-children.ts'
import { LocalRef } from '../ref/local-ref.ts'
import { fuse } from '../message/fuse.ts'

/** What may be spawned: a behavior, or a class that knows how to become one. */
type Spawnable = Behavior<never> | ((...args: never) => unknown) | (abstract new (...args: never) => unknown)

export function spawnUnder(
  parent: Cell,
  spawnable: Spawnable,
  options: (SpawnOptions & { readonly args?: readonly unknown[] }) | undefined,
): LocalRef {
  const { host } = parent
  fuse.catcher?.refuse('spawn')
  const welcome = host.phase === 'open' || (host.draining && parent.ref.parent !== undefined)
  if (!welcome) throw new SystemClosed(host.name, `spawn under ${parent.ref.path}`)
  if (!takesMessages(parent.phase) || parent.phase === 'restarting')
    throw new NotAllowed(`Cannot spawn under ${parent.ref.path}: it is ${parent.phase}. Spawn from setup or a message handler.`)
  let node: unknown = spawnable
  let given: SpawnOptions | undefined = options
  let classArgs: readonly unknown[] = []
  let resolved: CellOptions
  let name: string | undefined
  try {
    if (options !== undefined) checkObject('options', options)
    if (typeof spawnable === 'function') {
      const { args = [], ...rest } = options ?? {}
      if (!Array.isArray(args)) throw new InvalidOption('args', args, 'use an array of what the constructor takes')
      classArgs = args
      // The class brings its own conversion, so that a system without class actors carries none of it.
      if (behaviorFrom in spawnable) node = (spawnable[behaviorFrom] as (args: readonly unknown[]) => unknown).call(spawnable, args)
      given = rest
    }
    while (node instanceof SpawnOnly) {
      given = given === undefined ? node.options : { ...node.options, ...given }
      node = node.behavior
    }
    // One that is `stopped` ends in its first turn, as a setup does that returns it.
    if (!(node instanceof BehaviorNode) || node.kind === 'same' || node.kind === 'unhandled') throw new NotABehavior(node, 'spawn was given', true)
    resolved = resolveOptions(given, host)
    name = given?.name
  } catch (cause) {
    throw unreadable('options', options, cause)
  }
  if (name !== undefined) checkName(name, parent.ref)
  if (name !== undefined && parent.children?.names?.has(name) === true) throw new NameTaken(`${parent.ref.path}/${name}`)
  const dispatcher = host.dispatcher(resolved.dispatcher)
  const make = dispatcher.spawner?.prepare(spawnable, classArgs, given ?? {}, resolved, dispatcher)

  const ref = makeRef(node, parent.ref, name, host.nextUid())
  const plain = make === undefined ? host.tap : undefined
  const cell =
    make !== undefined ? make(ref) : plain === undefined ? new Cell(ref, dispatcher, resolved, node) : plain.makeCell(ref, dispatcher, resolved, node)
  // Of the cell: a tap may have made it with a smaller mailbox.
  if (cell.options.mailbox !== undefined && cell.queue === undefined) cell.queue = openMailbox(cell.options.mailbox, cell)
  // Of the cell: one that stands for an actor of another thread is not measured, the actor is.
  cell.options.metrics?.begin(cell as never)
  if (host.flightRecorder !== undefined) cell.ensureExtras().flight = host.flightRecorder.open({ ref, spawned: spawnable, args: classArgs })
  ;(parent.ensureExtras().children ??= new Children()).add(cell)
  if (resolved.stopTimeout >= endless) declareEndless(parent)
  dispatcher.joined()
  host.born(cell)
  dispatcher.enqueue(cell)
  return ref
}

function makeRef(node: BehaviorNode, parent: LocalRef, name: string | undefined, uid: number): LocalRef {
  return (node.makeRef?.(parent as never, name, uid) ?? new LocalRef(parent, name, uid)) as LocalRef
}
