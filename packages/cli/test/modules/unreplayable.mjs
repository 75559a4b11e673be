// What cannot be replayed from a capsule: a function that wants arguments which are not in it, and persistent actors.
import { EventSourced, eventSourced } from '@troupe/persistence'

export const throwing = () => {
  throw new Error('no currency')
}

export const account = eventSourced('account', {
  initial: () => 0,
  events: { paid: (cents, event) => cents + event.cents },
  commands: { pay: (ctx, { cents }) => ctx.persist({ type: 'paid', cents }) },
})
export const made = () => account('42')
export const one = account('42')

export class Account extends EventSourced {
  static persistence = { kind: 'account' }
  initial() {
    return 0
  }
}
