// What threads tell the main one about themselves: what they logged, what they buried, what failed there, what they observed. Fields that could
// not go over come as text.

import type { DeadLetter, Failure, Observation } from '@troupe/core'
import type { SystemCore } from '@troupe/core/internal'
import type { Exchange } from '@troupe/border'

export function hearReports(exchange: Exchange, core: SystemCore, slotOf: (epoch: number) => number): void {
  exchange.on('log', ({ level, fields, message }, crossing) =>
    core.logger[level]({ ...(typeof fields === 'object' ? fields : { fields }), thread: slotOf(crossing.peer) }, message),
  )
  exchange.on('letter', ({ message, sender, recipient, reason }) => {
    const letter = { message, sender, recipient, reason, at: core.runtime.now() } as DeadLetter
    core.deadLetters.add(letter)
    if (core.listening) core.observe({ type: 'message.dead', letter, at: letter.at })
  })
  exchange.on('failure', ({ actor, message, cause, directive }) =>
    core.failures.add({ actor, message, cause, directive, at: core.runtime.now() } as Failure),
  )
  exchange.on('event', ({ event }) => {
    if (typeof event === 'object' && event !== null && 'type' in event) core.observe({ ...(event as Observation), at: core.runtime.now() })
  })
}
