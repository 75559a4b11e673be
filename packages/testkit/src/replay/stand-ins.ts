// Actors that are not there in a replay: whoever the failed actor knew. They take what they are told, and answer what they are asked as it was answered then.

import { type ActorRef, type AnyRef, InvalidOption, receive, same, stopped } from '@troupe/core'
import { PendingAsk } from '@troupe/core/internal'
import { type CapsuleEntry, decodeValue } from '@troupe/observer/capsule'
import type { TestKit } from '../test-kit.ts'

/** What a stand-in is told to end by. */
const end = Symbol('end')

export class StandIns {
  readonly #kit: TestKit
  readonly #answers: readonly CapsuleEntry[]
  readonly #taken = new Set<CapsuleEntry>()
  readonly #refs = new Map<string, AnyRef>()
  /** The actor itself, by the path it had. */
  readonly #own: string
  #self: AnyRef | undefined
  /** Questions that nobody has an answer to. */
  readonly unanswered: Set<string> = new Set()

  constructor(kit: TestKit, own: string, answers: readonly CapsuleEntry[]) {
    this.#kit = kit
    this.#own = own
    this.#answers = answers
  }

  /** The actor is there: who refers to it, or to a child of it, means the real one. */
  itIs(self: AnyRef): void {
    this.#self = self
  }

  refOf(path: string): AnyRef {
    if (path === this.#own && this.#self !== undefined) return this.#self
    if (path.startsWith(`${this.#own}/`) && this.#self !== undefined) {
      const child = this.#kit.system.find(`${this.#self.path}${path.slice(this.#own.length)}`)
      if (child !== undefined) return child
    }
    let ref = this.#refs.get(path)
    if (ref === undefined) this.#refs.set(path, (ref = this.#made(path)))
    return ref
  }

  /** It ends, as it did then. */
  end(path: string): void {
    ;(this.#refs.get(path) as ActorRef<symbol> | undefined)?.tell(end)
  }

  decode(encoded: unknown): unknown {
    try {
      return decodeValue(encoded, (path) => this.refOf(path))
    } catch (cause) {
      throw new InvalidOption('capsule', encoded, 'a value in it cannot be read: was the file changed?', cause)
    }
  }

  #made(path: string): AnyRef {
    const behavior = receive<unknown>((_ctx, message) => {
      if (message === end) return stopped
      const asked = questionIn(message)
      if (asked === undefined) return same
      const answer = this.#answers.find((one) => one.type === path && !this.#taken.has(one))
      if (answer === undefined) {
        this.unanswered.add(path)
        return same
      }
      this.#taken.add(answer)
      const value = this.decode(answer.value)
      if (answer.ok) asked.tell(value)
      // What timed out then times out again, by the clock of the replay.
      else if ((value as { readonly code?: unknown } | undefined)?.code !== 'ask-timeout') throw value
      return same
    })
    // Where it can be, it is called as it was: errors name paths.
    const [, top] = /^\/user\/([\w.-]+)$/.exec(path) ?? []
    const name = top ?? `for-${path.replaceAll(/[^\w-]+/g, '_').slice(-60)}-${this.#refs.size}`
    return this.#kit.system.spawn(behavior, { name, supervision: 'resume' })
  }
}

/** Whom to answer, where it is a question. */
function questionIn(message: unknown): PendingAsk | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  return Object.values(message).find((part): part is PendingAsk => part instanceof PendingAsk)
}
