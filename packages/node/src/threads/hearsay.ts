// What threads tell the main one about themselves: what they logged, what they buried, what they observed.

import type { Logger, Observation } from 'troupe'
import type { SystemCore } from 'troupe/internal'
import type { Exchange } from './exchange.ts'

export function hearReports(exchange: Exchange, core: SystemCore, slotOf: (epoch: number) => number): void {
  exchange.on('log', ({ level, fields, message }: { level: keyof Logger; fields: Record<string, unknown>; message: string }, channel) =>
    core.logger[level]({ ...fields, thread: slotOf(channel.peer) }, message),
  )
  exchange.on('letter', ({ message, sender, recipient, reason }: never) => {
    const letter = { message, sender, recipient, reason, at: core.runtime.now() }
    core.deadLetters.add(letter)
    if (core.listening) core.observe({ type: 'message.dead', letter, at: letter.at })
  })
  exchange.on('event', ({ event }: { event: Observation }) => core.observe({ ...event, at: core.runtime.now() }))
}
