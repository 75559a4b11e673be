// What must hold once all is quiet: nothing waits, nobody stands between two phases, nobody is owed an answer, a signal, credit or a
// thread, and nothing is kept for those who are gone.

import type { Exchange } from '@troupe/border'
import type { Cell } from '@troupe/core/internal'
import type { Life, World } from './world.ts'

export function judgeAtRest(world: World): void {
  const { sim, threads } = world
  for (const question of world.questions.values())
    if (!question.settled && (question.by === undefined || world.placeOf(question.by).state === 'running'))
      sim.violate('C9', `question ${question.id} was never settled`)
  for (const [slot, thread] of threads.pool.slots.entries())
    if (thread?.state !== 'up') sim.violate('T4', `place ${slot} of the pool has no thread: ${thread?.state ?? 'none'}`)
  for (const epoch of [0, ...threads.living.map((t) => t.epoch)]) {
    const exchange = threads.exchangeOf(epoch)
    if (exchange === undefined || (epoch > 0 && threads.all.get(epoch)!.place.state !== 'running')) continue
    judgeExchange(world, exchange)
    judgePhases(world, exchange)
    judgeLinks(world, exchange)
  }
  for (const life of world.lives) judgeLife(world, life)
}

function judgeExchange({ sim }: World, { epoch, waitingMailboxes, questions, whereabouts }: Exchange): void {
  if (waitingMailboxes > 0) sim.violate('T3', `${waitingMailboxes} mailboxes of thread ${epoch} wait for credit for ever`)
  if (questions.pending + questions.held > 0)
    sim.violate('C9', `thread ${epoch} keeps ${questions.pending} questions of its own and ${questions.held} of others`)
  if (whereabouts.early > 0) sim.violate('C2', `${whereabouts.early} messages wait on thread ${epoch} for an actor that never comes`)
}

/** Neither what runs on a thread nor what stands for it elsewhere. */
function judgePhases({ sim }: World, { epoch, residents }: Exchange): void {
  for (const cell of [...residents.stubs, ...residents.allHosted]) {
    if (isUp(cell) || cell.phase === 'terminated') continue
    const { step } = (cell.info ?? {}) as { readonly step?: string }
    const there = 'there' in cell ? `, there ${cell.there}` : ''
    sim.violate('stuck', `${cell.ref.path} on thread ${epoch} is ${cell.phase} for ever, at ${step ?? 'no step'}${there}`)
  }
}

/**
 * Links to actors that are gone are closed, and those to others have their credit back except what is given back later. The other end
 * knows of as many links as are open, and of no others.
 */
function judgeLinks({ sim, threads }: World, { epoch, crossings }: Exchange): void {
  for (const { peer, links } of crossings) {
    const there = threads.exchangeOf(peer)
    if (there === undefined) continue
    const open = links.filter((link) => !link.isClosed).length
    const known = there.knownCrossing(epoch)?.incomingLinks ?? 0
    if (open !== known) sim.violate('T3', `thread ${epoch} has ${open} links to thread ${peer}, which knows of ${known}`)
    for (const { uid, underWay, window, isClosed } of links) {
      const cell = there.residents.cell(uid)
      if (cell === undefined) sim.violate('T3', `thread ${epoch} keeps a link to #${uid} on thread ${peer}, which is not there`)
      if (isClosed && isUp(cell) && cell!.queuedMessages === 0)
        sim.violate('T3', `thread ${epoch} keeps a link to #${uid} on thread ${peer} that it has closed, with ${underWay} messages under way`)
      if (
        cell !== undefined &&
        isUp(cell) &&
        cell.queuedMessages === 0 &&
        (cell.extras?.stash?.size ?? 0) === 0 &&
        underWay >= Math.max(1, window >> 2)
      )
        sim.violate('T3', `${underWay} messages to #${uid} on thread ${peer} were handled, and thread ${epoch} has no credit for them, of ${window}`)
    }
  }
}

function judgeLife(world: World, life: Life): void {
  const { sim } = world
  if (world.placeOf(life).state !== 'running') return
  const isLast = world.lives.findLast((l) => l.cell === life.cell) === life
  const gone = !isLast || life.cell.phase === 'terminated'
  if (gone && life.preStarts > 0 && life.postStops === 0) sim.violate('C4', `${life.path} ended on thread ${life.at}, which lives, without PostStop`)
  if (gone) return
  if (life.busy > 0 && life.waitsFor === undefined) sim.violate('stuck', `${life.path} is still busy`)
  for (const [uid, times] of life.watching) {
    const ref = world.refs.find((r) => r.uid === uid)
    if (ref !== undefined && world.hasEnded(ref) && times !== 1)
      sim.violate('C5', `${life.path} watches ${ref.path}, which has ended, and was not told`)
  }
}

/** Whether an actor takes its turns, or would if nobody had suspended it. */
export function isUp(cell: Cell | undefined): boolean {
  return cell?.phase === 'running' || cell?.phase === 'suspended'
}
