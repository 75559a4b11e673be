// Who waits for whose answer: the questions under way at one actor, read off the lists that it has anyway. What is told of each is a
// plain record, so that it may come from another thread.

import type { PendingAsk } from '../cell/ask/ask.ts'
import { inProgress } from '../cell/ask/deadlock.ts'
import { askedBy, type Meta } from '../cell/message/envelope.ts'
import type { Cell } from '../cell/turn/cell.ts'
import { MessageRing } from '../queues/ring.ts'
import { typeOf } from '../values/errors.ts'

/** A question that nobody has answered yet. */
export interface Wait {
  /** Who asked; undefined where it was no actor, or one of another thread that says so itself. */
  readonly asker: number | undefined
  readonly target: number
  readonly askerPath: string | undefined
  readonly targetPath: string
  /** The type of the question, where it was found. */
  readonly type: string | undefined
  /** Milliseconds since it was asked. */
  readonly ms: number
  /** Milliseconds until it is given up. */
  readonly left: number
  /** In the mailbox, being handled, handled without an answer so far, or on another thread. */
  readonly state: 'queued' | 'taken' | 'handled' | 'away'
  /** Whether the asker's handler stands still until the answer comes. */
  readonly binds: boolean
  /** The same for what is told of one question on two threads. */
  readonly mark: string | undefined
}

/** What a question that crosses between threads is known by. */
export type MarkOf = (ask: PendingAsk) => string | undefined

/** How many questions of one mailbox are looked for by what they are. */
const typedMost = 100
const searched = 1000

/** The questions that this actor is to answer, and those of its own that have gone to another thread. */
export function waitsOf(cell: Cell, now: number, markOf?: MarkOf): Wait[] {
  const { extras } = cell
  if (extras === undefined) return []
  const waits: Wait[] = []
  const types = extras.asked === undefined ? undefined : queuedTypes(cell)
  for (let ask = extras.asked; ask !== undefined; ask = ask.nextAsk) waits.push(waitOf(ask, now, types?.get(ask), markOf?.(ask)))
  for (let edge = extras.asking; edge !== undefined; edge = edge.next)
    if (!isLinked(edge.ask) && !edge.ask.settled) {
      // Where it is now only the thread that has it can tell; here the handler stands still, or not.
      const binds = edge.call !== undefined && edge.call === extras.pending
      waits.push({ ...waitOf(edge.ask, now, undefined, markOf?.(edge.ask)), state: 'away', binds })
    }
  return waits
}

function waitOf(ask: PendingAsk, now: number, type: string | undefined, mark: string | undefined): Wait {
  const { target, edge, timeout } = ask
  const asker = edge?.asker.cell
  const state = !ask.opened ? 'queued' : inProgress(ask) ? 'taken' : 'handled'
  const left = ask.deadline - now
  return {
    asker: asker?.ref.uid,
    target: target.ref.uid,
    askerPath: asker?.ref.path,
    targetPath: target.ref.path,
    type: state === 'taken' ? typeOf(target.ctx!.message) : type,
    ms: Math.max(0, timeout - left),
    left,
    state,
    binds: edge?.binds ?? false,
    mark,
  }
}

/** Whether its target, as it is known here, has it in its list. */
function isLinked(ask: PendingAsk): boolean {
  return ask.previousAsk !== undefined || ask.target.extras?.asked === ask
}

/** Reentrant actors have several in progress; those are not told apart by where they stand. */
function queuedTypes(cell: Cell): Map<PendingAsk, string> {
  const types = new Map<PendingAsk, string>()
  const { queue } = cell
  if (queue instanceof MessageRing)
    queue.indexOfMeta((meta, message) => {
      const ask = askedBy(meta as Meta)
      if (ask !== undefined) types.set(ask, typeOf(message))
      return types.size >= typedMost
    }, searched)
  for (const call of cell.extras?.calls ?? []) {
    const ask = call.message === undefined ? undefined : askedBy(call.meta)
    if (ask !== undefined) types.set(ask, typeOf(call.message))
  }
  return types
}
