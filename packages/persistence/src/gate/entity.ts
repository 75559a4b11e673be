// What every persistent actor can do besides keeping a state: deliver to others for sure, and set timers that outlive it. Both are noted
// in the record of the command that asked for them, so that they are there with its effects or not at all.

import { type ActorContext, NotAllowed } from '@troupe/core'
import { Keyed } from '@troupe/core/internal'
import { PersistFenced } from '../values/errors.ts'
import type { TimerChange } from '../values/stored.ts'
import { Belongings } from './belongings.ts'
import { Acked, Delivered } from './delivery.ts'
import { type Flight, never, type Turn } from './flight.ts'
import { Gated } from './gated.ts'
import { checkKind, idOf, keyIn } from './ids.ts'
import { ours } from './own-envelope.ts'
import { checkDelay, checkTime, checkTimer, type DurableTimers, Fired, mailKey } from './timers.ts'

const noTimers: readonly TimerChange[] = []

export abstract class Entity extends Gated {
  /** Mail and timers; most have neither. */
  protected own: Belongings | undefined = undefined

  get key(): string {
    return keyIn(this.id)
  }

  /** Runs a command, in the style that it is written in. */
  protected abstract command(ctx: ActorContext<never>, message: unknown): unknown
  /** Puts something of ours into the record of the present command; returns it as it is kept. Fails with `NotStorable`. */
  protected abstract note(type: string, data: object): string

  deliver(kind: { readonly kind?: unknown }, key: string, message: unknown): void {
    this.inCommand('deliver')
    const to = idOf(checkKind(kind?.kind), key)
    if (this.hub.find === undefined)
      throw new NotAllowed(`${this.id} cannot deliver to ${to}: nobody says where that is. Give persistence({ find: (kind, key) => ref }).`)
    const { mail } = (this.own ??= new Belongings())
    const n = mail.next(to)
    this.note('$sent', { to, n, message })
    mail.sent(to, n, message, this.seq)
    this.acted(() => this.hub.send(this, to, n, message))
  }

  get timers(): DurableTimers<unknown> {
    this.inCommand('use its timers')
    const { alarms } = (this.own ??= new Belongings())
    const set = (given: string, due: number, every: number | undefined, message: unknown): void => {
      this.inCommand('set a timer')
      const key = checkTimer(this.id, given)
      alarms.set(key, due, every, this.note('$timer', { key, due, every, message }))
    }
    const cancel = (key: string): void => {
      this.inCommand('cancel a timer')
      if (!alarms.has(key)) return
      this.note('$untimed', { key })
      alarms.remove(key)
    }
    return {
      once: (key, ms, message) => set(key, this.now + checkDelay(ms, 'from'), undefined, message),
      at: (key, time, message) => set(key, checkTime(time), undefined, message),
      every: (key, ms, message) => set(key, this.now + checkDelay(ms, 'above'), ms, message),
      cancel,
      cancelAll: () => alarms.keys().forEach(cancel),
      has: (key) => alarms.has(key),
    }
  }

  override stash(): void {
    if (this.turn?.message instanceof Keyed)
      throw new NotAllowed(
        `${this.id} cannot put aside what was delivered to it, or what a timer sent: that it came is stored with what comes of it. Throw, and it comes again; or keep it in the state.`,
      )
    super.stash()
  }

  protected override perform(ctx: ActorContext<never>, message: unknown): unknown {
    if (!(message instanceof Keyed)) return this.command(ctx, message)
    if (message instanceof Delivered) return this.#receive(ctx, message)
    if (message instanceof Fired) return this.#ring(ctx, message)
    const { by, n } = message as Acked
    if (this.own?.mail.waits(by, n) === true) {
      this.note('$done', { to: by, n })
      this.own.mail.done(by, n)
    }
    return undefined
  }
  #receive(ctx: ActorContext<never>, { from, n, message, sender }: Delivered): unknown {
    const { mail } = (this.own ??= new Belongings())
    const last = mail.received(from)
    // One before it was lost: both will come again.
    if (n > last + 1) return undefined
    let returned: unknown
    if (n === last + 1) {
      this.note('$got', { from, n })
      mail.got(from, n)
      this.turn!.received = from
      returned = this.command(ctx, message)
    }
    // Held as everything else: it is acknowledged when its effect is durable.
    this.acted(() => this.hub.acknowledge(from, sender, new Acked(keyIn(from), this.id, n)))
    return returned
  }
  #ring(ctx: ActorContext<never>, { timer, due }: Fired): unknown {
    const { now } = this
    const alarm = due <= now ? this.own?.alarms.dueAt(timer, due) : undefined
    if (alarm === undefined) {
      const corrected = this.own?.alarms.corrected(timer, due, now)
      if (corrected === undefined) return undefined
      this.note('$ticked', { key: timer, due: corrected })
      this.own!.alarms.move(timer, corrected)
      return undefined
    }
    const next = alarm.next?.(now)
    if (next === undefined) {
      this.note('$untimed', { key: timer })
      this.own!.alarms.remove(timer)
    } else {
      this.note('$ticked', { key: timer, due: next })
      this.own!.alarms.move(timer, next)
    }
    return this.command(ctx, alarm.message)
  }

  /** Sends again what was not acknowledged; whether anything waits for that. */
  resend(): boolean {
    if (this.own === undefined || this.ended || this.latched instanceof PersistFenced) return false
    if (this.latched !== undefined) {
      // Where supervision let it go on it recovers at its next message, and something may have to leave though none comes.
      this.cell.send(new Acked(this.key, '', 0), ours)
      return true
    }
    const { mail } = this.own
    if (mail.empty) return false
    for (const { to, n, message } of mail.due(this.durable)) this.hub.send(this, to, n, message)
    return true
  }

  /** Takes back mail and timers of a command that began at this number. */
  protected rollBackOwn({ seq, received }: Turn): void {
    const { own } = this
    if (own === undefined) return
    own.mail.unsend(seq)
    if (received !== undefined) own.mail.ungot(received)
    own.alarms.rollBack()
  }
  protected override settle(_turn: Turn): void {
    const { own } = this
    if (own === undefined) return
    own.alarms.settle()
    if (!own.mail.empty) this.hub.redelivery.posts(this)
  }
  /** What the record that is written now changes in the index of timers. */
  protected takeTimers(flight: Flight): readonly TimerChange[] {
    const { own } = this
    if (own === undefined) return noTimers
    const waits = !own.mail.empty
    // So that what waits to be delivered wakes its sender, as a timer would.
    if (waits !== own.mailNoted) own.alarms.note(mailKey, waits ? this.now + this.hub.redeliverEvery : undefined)
    own.mailNoted = waits
    const changes = own.alarms.take()
    for (const { due = never } of changes) flight.rings = Math.min(flight.rings, due)
    return changes
  }
  protected override accounted(flight: Flight): void {
    if (flight.rings === never) return
    this.hub.waking.noted(flight.rings)
    flight.rings = never
  }
  /** All was read up to this number: from here on it is what the journal has. */
  protected begun(seq: number, own: Belongings | undefined): void {
    const inPlace = this.latched !== undefined
    this.unlatch(seq)
    this.own = own
    if (this.flight !== undefined) this.flight.rings = never
    if (own === undefined) return
    own.mailNoted = !own.mail.empty
    own.alarms.known()
    // Where it goes on after a failure the index tells again, a little later each time: a timer whose command fails would otherwise fail it as
    // often as it could, and nothing else would have its turn.
    if (!inPlace && !this.#hasRun) for (const { key, due } of own.alarms.overdue(this.now)) this.cell.send(new Fired(this.key, key, due), ours)
    if (own.mailNoted) this.hub.redelivery.posts(this)
  }
  /** An incarnation before this one came up. */
  get #hasRun(): boolean {
    const { extras } = this.cell
    return extras !== undefined && extras.incarnation > 0 && !extras.neverUp
  }
}
