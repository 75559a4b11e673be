// Where single actors stand, on both sides of the border: what stands for one beside its parent, and what its thread says of it.
// For whoever finds that one does not answer.

import type { ActorSnapshot } from '@troupe/core'
import { endingOf, infoIn, isStepOverdue } from '@troupe/core/internal'
import type { StubCell } from '@troupe/border'
import type { ThreadPool } from '../pool/pool.ts'

/** Milliseconds that threads have to say what they know; one that hangs says nothing. */
const patience = 5000

/** One line for each of these actors; of those only that stand on the main thread for one that runs elsewhere. */
export async function standingOf(pool: ThreadPool, uids: Iterable<number>): Promise<readonly string[]> {
  const { residents } = pool.exchange
  const stubs = [...uids].map((uid) => residents.stub(uid)).filter((stub) => stub !== undefined)
  let cancel = (): void => {}
  const silence = new Promise<undefined>((resolve) => (cancel = pool.loop.after(patience, () => resolve(undefined))))
  const hosted = await Promise.race([pool.hosted(), silence])
  cancel()
  return stubs.map((stub) => {
    const there = hosted === undefined ? 'threads do not say what it is there' : thereOf(hosted.get(stub.ref.uid))
    return `${stub.ref.path} #${stub.ref.uid}: ${hereOf(stub)}; ${there}`
  })
}

function hereOf(stub: StubCell): string {
  const { now } = stub.exchange
  const { extras, phase, wire } = stub
  const info = endingOf(stub) ?? infoIn(stub, 'starting')
  const words = [`here ${phase}`]
  if (info !== undefined) words.push(`for ${ms(now - info.since)} at ${info.step}`)
  if (extras?.pending !== undefined) words.push(`waits for ${extras.pending.what}, ${extras.pending.state}, since ${ms(now - extras.pending.since)}`)
  const timer = extras?.stepTimer
  if (timer !== undefined) words.push(`a timer ${isStepOverdue(stub) ? 'has fired' : `in ${ms(timer.at - now)}`}`)
  const { lane } = stub
  if (lane !== undefined) words.push(`${lane.commands.size} commands and ${lane.deferred.length} deferred ones to come`)
  words.push(`believed to be ${stub.there} on thread ${stub.at ?? 'none'}`, `${wire.size} messages wait`)
  words.push(wire.link === undefined ? 'no way to it' : `way ${wire.link.open ? 'open' : 'closed or without credit'}`)
  return words.join(', ')
}

function thereOf(snapshot: ActorSnapshot | undefined): string {
  if (snapshot === undefined) return 'no thread has it'
  const { thread, phase, waiting, pending, queued, incarnation } = snapshot
  const words = [`in place ${thread ?? 'none'} ${phase}`]
  if (waiting !== undefined) words.push(`for ${ms(waiting.ms)} at ${waiting.reason}`)
  if (pending !== undefined) words.push(`waits for ${pending.what} since ${ms(pending.ms)}`)
  return [...words, `${queued} queued`, `incarnation ${incarnation}`].join(', ')
}

function ms(milliseconds: number): string {
  return `${Math.round(milliseconds)} ms`
}
