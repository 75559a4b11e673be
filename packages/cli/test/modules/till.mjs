// A till with a bug: a discount beyond the price is found out only by a later message, through a state that it built up, an answer it got, and the clock.
import { receive, setup } from '@troupe/core'
import { defineActor } from '@troupe/node'

export const options = { logger: false }

export const till = defineActor(import.meta.url, 'till', (currency, bank) => {
  let cents = 0
  let last = 0
  return receive(async (ctx, message) => {
    // Handlers may change what they were given; a capsule has it as it came.
    const { type } = message
    message.type = 'taken'
    if (type === 'pay') {
      last = ctx.system.clock.now()
      const { rate } = await ctx.ask(bank, { type: 'rate', currency })
      cents += message.cents * rate
    } else if (type === 'refund') cents -= message.cents
    else if (type === 'total') message.replyTo.tell(cents)
    else {
      const since = ctx.system.clock.now() - last
      if (cents < 0)
        throw new RangeError(
          `the till has ${cents} ${String(currency)}, ${since >= 0 ? 'after' : 'before'} the last payment, draw ${ctx.system.clock.random()}`,
        )
    }
  })
})

/** The same without the bug. */
export const mended = (currency, bank) => {
  void [currency, bank]
  return receive(() => {})
}

/** Fails as it is told, or has a child that does. */
export const child = defineActor(import.meta.url, 'child', (name) =>
  setup((ctx) => {
    const below = name === 'above' ? ctx.spawn(child('below'), { name: 'below', supervision: 'restart' }) : undefined
    return receive((_ctx, { type, what, replyTo }) => {
      if (type === 'where') replyTo.tell(name)
      else if (below === undefined) throw new Error(`${String(name)}: ${what}`)
      else below.tell({ type, what })
    })
  }),
)

/** For what must not be written down. */
export function redact(value, type) {
  return type === 'refund' ? { type } : value
}

const bank = receive((_ctx, { replyTo }) => replyTo.tell({ rate: 2 }))

export default function shop(system) {
  const atBank = system.spawn(bank, { name: 'bank' })
  const it = system.spawn(till('eur', atBank), { name: 'till' })
  it.tell({ type: 'pay', cents: 100 })
  it.tell({ type: 'pay', cents: 50 })
  it.tell({ type: 'refund', cents: 400 })
  it.ask({ type: 'total' }).catch(() => {})
  it.tell({ type: 'close' })
}
