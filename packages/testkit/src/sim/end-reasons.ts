// Whether a message that was not handled ended for the reason it was given: the other half of C2. A dead letter that says
// `stopped` names an actor that takes no messages any more, an expired question was settled, a full mailbox was full.

import { type EndReason, poison, Succession, takesMessages, Watch } from '@troupe/core/internal'
import { type Entry, heldBy, isObsolete, mostOf } from './entry.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'
import { isTimer } from './traced-node.ts'

export class EndReasons {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  check(entry: Entry, how: 'dead' | 'dropped', reason: EndReason): void {
    if (entry.to.phase === 'stopped' && !isObsolete(entry.meta) && entry.state !== 'under way') this.#checkDrain(entry, how, reason)
    const wrong = this.#wrong(entry, reason)
    if (wrong !== undefined) this.#tap.violate('C2', entry.to, `${entry.type}#${entry.id} ended as ${how} (${reason}), but ${wrong}`)
  }
  /** What speaks against a reason; undefined where it is the right one, or cannot be told. */
  #wrong(entry: Entry, reason: EndReason): string | undefined {
    const { to, meta } = entry
    const { options } = to
    // Its own handler gave it up: by which reason is up to that.
    if (entry.state === 'running') return undefined
    switch (reason) {
      case 'stopped':
        if (takesMessages(to.phase)) return `the actor is ${to.phase}`
        return this.#tap.host.phase === 'open' ? undefined : 'the system is closed'
      case 'system-closed':
        return this.#tap.host.phase === 'open' ? 'the system is open' : takesMessages(to.phase) ? `the actor is ${to.phase}` : undefined
      case 'mailbox-full':
        return heldBy(to) >= mostOf(to) ? undefined : `the mailbox of ${mostOf(to)} holds ${heldBy(to)}`
      case 'mailbox-overflow':
        // Of several pills one is kept.
        if (meta === poison) return to.waiting.some((e) => e.meta === poison) ? undefined : 'no other pill is queued'
        if (options.mailbox?.overflow !== 'drop-newest' && options.mailbox?.overflow !== 'drop-oldest') return 'the mailbox drops nothing'
        return heldBy(to) >= mostOf(to) ? undefined : `the mailbox of ${mostOf(to)} holds ${heldBy(to)}`
      case 'expired':
        return this.#tap.asks.isSettled(meta) ? undefined : 'its question is open'
      case 'stale-timer':
        return isTimer(meta) && entry.sentIn === to.incarnation && to.timers?.get(meta.key) === meta ? 'its timer is armed' : undefined
      case 'unwatched':
        return meta instanceof Watch && to.watchesOf?.has(meta.ref) === true && to.extras?.watching?.get(meta.ref) === meta
          ? 'the watch is kept'
          : undefined
      case 'restart':
        if (options.restartMailbox !== 'clear') return 'a restart keeps the mailbox'
        return to.phase === 'restarting' ? undefined : `the actor is ${to.phase}`
      case 'drain':
        return to.phase === 'stopped' && (options.drain === 'drop' || isObsolete(meta)) ? undefined : `the actor is ${to.phase}, and drains otherwise`
      case 'not-accepted':
        return options.accepts === undefined ? 'there is no schema' : undefined
      case 'middleware':
        return options.middleware.length === 0 ? 'there is no middleware' : undefined
      case 'stash-overflow':
        return options.stashOverflow === 'drop-oldest' && to.aside.length + 1 >= options.stashCapacity ? undefined : 'the stash has room'
      default:
        return undefined
    }
  }
  /** Which message a full mailbox gave up, by its place among those that wait. */
  checkGivenUp(cell: SimCell, at: number): void {
    const { mailbox } = cell.options
    if (cell.waiting[at]!.meta === poison || mailbox?.overflow !== 'drop-oldest' || (!cell.fifo && mailbox.kind !== 'priority')) return
    const first = cell.waiting.findIndex((e) => !e.fronted && e.meta !== poison)
    if (at !== first) this.#tap.violate('C10', cell, 'a full mailbox gave up another than its oldest message')
  }
  /** What an actor leaves behind ends as its options say. */
  #checkDrain(entry: Entry, how: 'dead' | 'dropped', reason: EndReason): void {
    const { drain } = entry.to.options
    const fits =
      drain === 'drop'
        ? how === 'dropped'
        : how === 'dead' && (drain === 'dead-letter' || drain instanceof Succession) === (reason !== 'redirect-cycle')
    if (!fits)
      this.#tap.violate(
        'C2',
        entry.to,
        `${entry.type}#${entry.id} was left behind and ended as ${how} (${reason}), though the actor's drain is ${typeof drain === 'string' ? drain : 'a redirect'}`,
      )
  }
}
