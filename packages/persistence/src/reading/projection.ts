// A view of what was stored, made by an actor that goes through the events in order and remembers how far it is. Where the journal is
// transactional, what it made and how far it is are stored together; elsewhere a crash in between repeats the last batch.

import { type Behavior, InvalidOption, receive, setup, stopped, supervise, withOptions } from '@troupe/core'
import { checkFunction, checkOneOf, checkPart, checkText, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import type { AnyEvent } from '../gate/definition.ts'
import { missedEvents, registerProjection } from '../journal/projections.ts'
import { ProjectionMoved } from '../values/errors.ts'
import type { FoundEvent } from '../values/stored.ts'
import { foundBy, fromTable, hubIn, openedBy, readable, type ReadEvent, type ReadQuery } from './events.ts'

/** How a projection is made. */
export interface ProjectionOptions<E = AnyEvent> {
  /** Under which its place is kept; one actor at a time has it. */
  readonly name: string
  /** Which events it is of; all if left out. */
  readonly from?: Pick<ReadQuery, 'kind' | 'tag'> | undefined
  /** Takes some events, in order; with a transactional journal `transaction` is its own, and what is done in it is stored with the place. */
  readonly handle: (events: readonly ReadEvent<E>[], transaction: unknown) => void | Promise<void>
  /** How many events at a time, at most; 100 if left out. */
  readonly batch?: number | undefined
  /**
   * What to do where events that it needs were deleted: `fail` (default) with `EventsDeleted`, or `skip` them. A projection that has begun holds
   * back the deletion of events that it has not handled, until it is removed by `removeProjection`.
   */
  readonly onDeleted?: 'fail' | 'skip' | undefined
}

const table: Table<ProjectionOptions> = {
  name: [checkName, undefined, true],
  from: [checkPart, fromTable],
  handle: [checkFunction, undefined, true],
  batch: [checkWhole, 1],
  onDeleted: [checkOneOf, ['fail', 'skip']],
}

function checkName(option: string, value: unknown): string {
  const name = checkText(option, value)
  if (name.startsWith('$')) throw new InvalidOption(option, value, 'names that begin with $ are reserved')
  return name
}

/** A view that cannot be brought up to date now may be later. */
const patient = supervise({
  decide: (cause) => (codeOf(cause) === 'events-deleted' ? 'stop' : 'restart'),
  limit: { restarts: Number.MAX_SAFE_INTEGER, within: 1000 },
  backoff: { min: 50, max: 30_000 },
  retryStart: true,
})

/**
 * An actor that makes a view of stored events: spawn it once under its name.
 *
 * Guarantees: `handle` is given each committed event, those of one id in order, and none is skipped; once, where the journal is
 * transactional, and otherwise again after a crash between its work and the note of its place. Events that it has not handled are not
 * deleted. Fails with `InvalidOption`, and for good with `EventsDeleted`; what `handle` throws restarts it at the batch that failed, after a
 * pause that grows.
 *
 * @example
 * system.spawn(projection({ name: 'totals', from: { kind: cart }, handle: (events) => totals.add(events) }))
 */
export function projection<E = AnyEvent>(options: ProjectionOptions<E>): Behavior<never> {
  const { name, from = {}, handle, batch = 100, onDeleted = 'fail' } = readOptions('projection', options as unknown as ProjectionOptions, table)
  type Ended = { readonly failed: boolean; readonly cause: unknown }
  const view = setup<Ended>((ctx) => {
    const hub = hubIn(ctx.system, `run projection ${name}`)
    const { signal } = ctx
    const run = async (): Promise<void> => {
      const journal = await hub.readable()
      const query = foundBy(from)
      await registerProjection(journal, name, query, onDeleted === 'skip')
      const order = new EventOrder()
      let at = await journal.offset(name)
      for await (const found of journal.events({ ...query, after: at, batch, signal })) {
        const events = (await openedBy(hub, found)).flatMap((one) => readable<AnyEvent>(hub, from.kind, one))
        const to = found.at(-1)!.offset
        const gap = query.tag === undefined && onDeleted === 'fail' ? order.gapIn(found) : undefined
        if (gap !== undefined) await missedEvents(journal, name, query, gap.id, gap.seq)
        // Ended meanwhile, it must not be heard of again: its successor may be at work.
        if (signal.aborted) return
        // There are none where all were erased, or are of Troupe itself: then only the place moves.
        const work = async (transaction: unknown): Promise<void> => (events.length === 0 ? undefined : handle(events, transaction))
        if ((await journal.advance(name, at, to, work)) === 'conflict') throw new ProjectionMoved(name)
        at = to
      }
    }
    ctx.pipeToSelf(
      run(),
      () => ({ failed: false, cause: undefined }),
      (cause) => ({ failed: true, cause }),
    )
    return receive<Ended>((_ctx, ended) => {
      if (ended.failed) throw ended.cause
      // The journal was closed.
      return stopped
    })
  })
  return withOptions(view, { supervision: patient })
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

/** Of how many actors the last number is remembered. */
const maxRemembered = 10_000

/** Looks whether events follow each other without a gap, of those actors that were seen lately. */
class EventOrder {
  readonly #last = new Map<string, number>()
  /** The first event that is missing. */
  gapIn(events: readonly FoundEvent[]): { readonly id: string; readonly seq: number } | undefined {
    for (const { id, seq } of events) {
      const last = this.#last.get(id)
      if (last !== undefined && seq > last + 1) return { id, seq: last + 1 }
      this.#last.set(id, seq)
      if (this.#last.size > maxRemembered) this.#last.delete(this.#last.keys().next().value!)
    }
    return undefined
  }
}
