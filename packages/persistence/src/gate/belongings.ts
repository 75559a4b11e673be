// What a persistent actor has besides its state: mail that is under way, and timers. Both are made of events of ours, whose types begin
// with `$`, or are kept beside the state; most actors have neither, and then there is no such object.

import { decode } from '../values/codec.ts'
import { RecoveryFailed } from '../values/errors.ts'
import { Mail } from './delivery.ts'
import { Alarms } from './timers.ts'

interface Own {
  readonly to: string
  readonly from: string
  readonly n: number
  readonly message: unknown
  readonly key: string
  readonly due: number
  readonly every: number | undefined
}

export class Belongings {
  readonly mail: Mail = new Mail()
  readonly alarms: Alarms = new Alarms()
  /** Whether the index of timers says that there is mail. */
  mailNoted = false

  /** Reads one of our own events again. Fails with `RecoveryFailed`. */
  fold(id: string, at: number, type: string, data: string): void {
    const { mail, alarms } = this
    let own: Own
    try {
      own = decode(data) as Own
    } catch (cause) {
      throw new RecoveryFailed(id, at, 'its data cannot be read', cause)
    }
    if (type === '$sent') mail.sent(own.to, own.n, own.message, at)
    else if (type === '$done') mail.done(own.to, own.n)
    else if (type === '$got') mail.got(own.from, own.n)
    else if (type === '$timer') alarms.set(own.key, own.due, own.every, data)
    else if (type === '$ticked') alarms.move(own.key, own.due)
    else if (type === '$untimed') alarms.remove(own.key)
    else throw new RecoveryFailed(id, at, `nothing is known of events of type ${type}; it was written by a newer version of Troupe`)
    // It is stored: there is no command to be taken back.
    alarms.settle()
  }

  /** How much there is of it. */
  get size(): number {
    return this.mail.size + this.alarms.size
  }
  /** As data, to be kept with a state; what is not there is left out. */
  toData(): { readonly mail?: unknown; readonly timers?: unknown } {
    const [mail, timers] = [this.mail.toData(), this.alarms.toData()]
    return { ...(mail === undefined ? {} : { mail }), ...(timers === undefined ? {} : { timers }) }
  }
  /** From what `toData` gave; undefined where that was nothing. */
  static from({ mail, timers }: { readonly mail?: unknown; readonly timers?: unknown }): Belongings | undefined {
    if (mail === undefined && timers === undefined) return undefined
    const own = new Belongings()
    if (mail !== undefined) own.mail.restore(mail)
    if (timers !== undefined) own.alarms.restore(timers)
    return own
  }
}
