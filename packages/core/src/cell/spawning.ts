// A new actor under a parent. Everything that can be refused is refused before anything is changed, so that a spawn
// that fails leaves nothing behind; no user code runs here.

import { takesMessages } from '../deciders/phase.ts'
import { type Behavior, BehaviorNode, BehaviorWithOptions } from '../values/behavior.ts'
import { NameTaken, NotABehavior, NotAllowed, SystemClosed } from '../values/errors.ts'
import type { SpawnOptions } from '../values/options.ts'
import { checkName } from '../values/path.ts'
import type { ActorRef } from '../values/ref.ts'
import { Cell } from './cell.ts'
import { Children } from './children.ts'
import { LocalRef } from './local-ref.ts'
import { resolveOptions } from './options.ts'

export function spawnUnder<M>(parent: Cell, behavior: Behavior<M>, options: SpawnOptions | undefined): ActorRef<M> {
  const { host } = parent.dispatcher
  const welcome = host.phase === 'open' || (host.draining && parent.ref.parent !== undefined)
  if (!welcome) throw new SystemClosed(host.name, `spawn under ${parent.ref.path}`)
  if (!takesMessages(parent.phase) || parent.phase === 'restarting')
    throw new NotAllowed(`Cannot spawn under ${parent.ref.path}: it is ${parent.phase}. Spawn from setup or a message handler.`)
  let node: unknown = behavior
  let given = options
  while (node instanceof BehaviorWithOptions) {
    given = given === undefined ? node.options : { ...node.options, ...given }
    node = node.behavior
  }
  if (!(node instanceof BehaviorNode) || (node.kind !== 'receive' && node.kind !== 'setup')) throw new NotABehavior(node, 'spawn was given')
  const resolved = resolveOptions(given, host)
  const name = given?.name === undefined ? undefined : checkName(given.name, parent.ref.path)
  if (name !== undefined && parent.children?.names?.has(name) === true) throw new NameTaken(`${parent.ref.path}/${name}`)
  const dispatcher = host.dispatcher(resolved.dispatcher)
  const queue = resolved.mailbox?.create()

  const ref = new LocalRef(parent.ref, name, host.nextUid())
  const cell = new Cell(ref, dispatcher, resolved, node)
  if (queue !== undefined) cell.queue = queue
  ;(parent.more.children ??= new Children()).add(cell)
  dispatcher.joined()
  host.born(cell)
  dispatcher.enqueue(cell)
  return ref as ActorRef<M>
}
