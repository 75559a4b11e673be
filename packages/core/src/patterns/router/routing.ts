// The way of a message through a router: forwarded to one routee, told to all, or asked of all. Forwarding moves it:
// sender, headers and a waiting ask go with it, and it is counted once.

import type { Context } from '../../cell/context/context.ts'
import { Envelope, headersOf } from '../../cell/message/envelope.ts'
import { cellOf } from '../../cell/ref/local-ref.ts'
import { tellAny } from '../../cell/message/telling.ts'
import { makeAbortSource } from '../../ports/host.ts'
import { type Behavior, same, unhandled } from '../../values/behavior.ts'
import type { ActorContext } from '../../values/context.ts'
import type { DeadLetterReason } from '../../values/dead-letter.ts'
import { NotAllowed, show } from '../../values/errors.ts'
import type { ActorRef, AnyRef, TellOptions } from '../../values/ref.ts'
import { observed } from '../../values/thenable.ts'
import { hostOfRef } from '../host-of.ts'
import type { Picker, Routee, RoutingStrategy } from './strategy.ts'

export class Routing<M> {
  routees: readonly Routee<M>[] = []
  readonly #strategy: RoutingStrategy<M>
  readonly #pick: Picker<M> | undefined
  readonly #forAll: ((message: M) => boolean) | undefined
  constructor(strategy: RoutingStrategy<M>, self: AnyRef, forAll: ((message: M) => boolean) | undefined) {
    this.#strategy = strategy
    this.#forAll = forAll
    const { runtime } = hostOfRef(self)
    this.#pick = strategy.mode === 'one' ? strategy.create(() => runtime.random()) : undefined
  }
  get refs(): readonly ActorRef<M>[] {
    return this.routees.map((r) => r.ref)
  }
  /** Sends the present message on its way. */
  route(ctx: ActorContext<M>, message: M): Behavior<M> {
    const { routees } = this
    if (routees.length === 0) {
      buryPresent(ctx, 'no-routees')
      return same
    }
    if (this.#forAll !== undefined && this.#isForAll(ctx, message)) return this.#tellAll(ctx, message)
    if (this.#pick !== undefined) {
      const at = this.#pick(message, routees)
      const routee = routees[at]
      if (routee === undefined) {
        observed(at, () => {})
        throw new NotAllowed(
          `The strategy ${this.#strategy.kind} of ${ctx.path} picked ${show(at)} of ${routees.length} routees. It must return an index.`,
        )
      }
      const { ref } = routee
      if (cellOf(ref) === undefined) tellAny(hostOfRef(ctx.self), ref, message, optionsOf(ctx))
      else ctx.forward(ref)
      return same
    }
    if (this.#strategy.mode === 'first') return scatter(ctx, message, routees, this.#strategy.timeout)
    return this.#tellAll(ctx, message)
  }
  #isForAll(ctx: ActorContext<M>, message: M): boolean {
    const answer: unknown = this.#forAll!(message)
    if (typeof answer === 'boolean') return answer
    observed(answer, () => {})
    throw new NotAllowed(`broadcast of ${ctx.path} returned ${show(answer)}: it says true or false, at once.`)
  }
  #tellAll(ctx: ActorContext<M>, message: M): Behavior<M> {
    const options = optionsOf(ctx)
    const host = hostOfRef(ctx.self)
    for (const { ref } of this.routees) tellAny(host, ref, message, options)
    return same
  }
}

function optionsOf(ctx: ActorContext<never>): TellOptions {
  const { sender } = ctx
  return { sender, headers: headersOf((ctx as unknown as Context).meta) }
}

/** Ends the message in progress as a dead letter. */
export function buryPresent(ctx: ActorContext<never>, reason: DeadLetterReason, cause?: unknown): void {
  const context = ctx as unknown as Context
  const { message, meta, cell } = context
  if (message === undefined) return
  context.move()
  cell.host.bury(message, meta, cell.ref, reason, cause)
}

function scatter<M>(ctx: ActorContext<M>, message: M, routees: readonly Routee<M>[], timeout: number): Behavior<M> {
  const replyTo = (message as { replyTo?: ActorRef<unknown> } | null)?.replyTo
  if (typeof replyTo?.tell !== 'function') return unhandled
  const { meta } = ctx as unknown as Context
  const host = hostOfRef(ctx.self)
  const source = makeAbortSource()
  const options = { timeout, signal: source.signal, headers: headersOf(meta) }
  const answers = routees.map(({ ref }) => ctx.ask<M, unknown>(ref, (mine) => ({ ...message, replyTo: mine }), options))
  Promise.any(answers)
    .then(
      (answer) => tellAny(host, replyTo, answer),
      (cause: AggregateError) => {
        // All failed alike, most often: the first says what happened.
        if (meta instanceof Envelope) meta.end('failed', cause.errors[0])
      },
    )
    .catch((cause: unknown) => host.logger.error({ cause }, 'the first answer could not be handed on'))
    .finally(() => source.abort())
  return same
}
