// What a command asked for by `after`: a message of the actor to itself, which leaves as everything does, once all is durable. What it does
// is not held any more, so that it runs only where memory is what the journal has. One that waits in the mailbox when its actor stops runs
// before the stop; the message that is left of it is dropped with the mailbox.

import { type ActorContext, same, stopped } from '@troupe/core'
import type { Cell } from '@troupe/core/internal'
import type { Gated } from './gated.ts'
import { OwnEnvelope } from './own-envelope.ts'

/** By cell, the effects that are in its mailbox, in order: an incarnation leaves them to the next one. */
const waiting = new WeakMap<Cell, Set<Effect>>()

/** What an actor is told once something of it is durable, and does in its own turn. Its own envelope. */
export class Effect extends OwnEnvelope {
  /** Whose command asked for it: what it sees of the state is that one's. */
  readonly #owner: Gated
  readonly #effect: (ctx: ActorContext<never>) => void
  /** Whether it ran, or failed. */
  done = false

  constructor(owner: Gated, effect: (ctx: ActorContext<never>) => void) {
    super()
    this.#owner = owner
    this.#effect = effect
  }
  override get obsolete(): boolean {
    return this.done
  }
  send(): void {
    const { cell, finishing } = this.#owner
    const effects = waiting.get(cell) ?? new Set()
    waiting.set(cell, effects.add(this))
    // An actor that stops takes no message: it runs what waits when all is durable.
    if (!finishing) cell.send(this, this)
  }
  /** Memory could not be made what the journal has: it waits for its next turn, after a pause, for the journal may be away. */
  sendLater({ hub, cell }: Gated): void {
    hub.after(hub.redeliverEvery, () => {
      if (!this.done && !hub.closing && cell.end === undefined) this.send()
    })
  }
  /** Its turn has come. What it sees and tells is not held: commands that ran since it was sent must be durable, too. */
  handle(by: Gated, ctx: ActorContext<never>): unknown {
    if (this.done) return same
    if (by.durable === by.seq) return this.run(by, ctx)
    return by.barrier().then(
      () => this.handle(by, ctx),
      (cause: unknown) => {
        // Its own command is stored: the next incarnation runs it.
        this.send()
        throw cause
      },
    )
  }
  /** Runs it in the incarnation that is there by now. */
  run(by: Gated, ctx: ActorContext<never>): unknown {
    this.done = true
    const effects = waiting.get(by.cell)
    effects?.delete(this)
    if (effects?.size === 0) waiting.delete(by.cell)
    // One of an incarnation before this may have memory that was never stored.
    if (this.#owner !== by) this.#owner.follow(by)
    return this.#effect(ctx)
  }
}

export function hasEffects(cell: Cell): boolean {
  return waiting.has(cell)
}

/** Runs the effects that wait, in order: their actor stops, and takes no further message. */
async function runEffects(by: Gated, ctx: ActorContext<never>): Promise<void> {
  for (const effect of waiting.get(by.cell) ?? [])
    try {
      await effect.run(by, ctx)
    } catch (cause) {
      by.cell.host.logger.error({ actor: by.cell.ref.path, cause }, 'an effect of an actor that stops failed')
    }
}

/** A command stops its actor: effects that wait run first, while it may still spawn and ask. */
export async function stopAfterEffects(by: Gated, ctx: ActorContext<never>): Promise<unknown> {
  await by.barrier()
  await runEffects(by, ctx)
  return stopped
}

/**
 * An actor begins anew: effects that wait run before, because a stop that comes before the next incarnation is up would find none to run them. Where
 * memory cannot be made what the journal has, they are left to the next incarnation.
 */
export async function finishIncarnation(by: Gated, ctx: ActorContext<never>): Promise<void> {
  await by.barrier().catch(() => undefined)
  if (!hasEffects(by.cell)) return
  if (by.latched !== undefined) {
    by.finishing = true
    try {
      await by.hub.recover(by)
    } catch {
      return
    } finally {
      by.finishing = false
    }
  }
  await runEffects(by, ctx)
}

/** An actor is stopped: what it has under way becomes durable, and effects that wait for that, or for their turn, run before its end. */
export async function finish(by: Gated, ctx: ActorContext<never>): Promise<void> {
  by.finishing = true
  await by.barrier().catch(() => undefined)
  if (!hasEffects(by.cell)) return
  // Effects see the state, and what a write lost that failed must be no part of it.
  if (by.latched !== undefined) await by.hub.recover(by)
  await runEffects(by, ctx)
}
