// What stands on this thread for a question that was asked on another: the question of whoever has it here, whose answer goes
// back to where it was asked. Whom it is handed on to is told there as well, for whoever asks why there is no answer yet.

import { type Cell, fuse, PendingAsk } from '@troupe/core/internal'

/** What a mirror needs of those who carry questions over. */
export interface MirrorKeeper {
  answered(mirror: Mirror, answer: unknown): void
  refused(mirror: Mirror, cause: unknown): void
  /** It was handed on to another actor. */
  moved(mirror: Mirror, to: Cell): void
  /** It has left this thread, and somebody here answers it all the same. */
  answeredElsewhere(mirror: Mirror, answer: unknown): void
}

/** What stands at this place for a question of another. */
export class Mirror extends PendingAsk {
  /** The thread it was asked on, and the number it has there. */
  readonly origin: number
  readonly id: number
  readonly #keeper: MirrorKeeper
  /** The actor that the asker's side believes it is with. */
  #with: number
  #left = false

  constructor(keeper: MirrorKeeper, origin: number, id: number, target: Cell, uid: number, remaining: number, headers: PendingAsk['headers']) {
    super(
      target,
      headers,
      Math.round(remaining),
      (answer) => keeper.answered(this, answer),
      (cause) => {
        if (!this.#left) keeper.refused(this, cause)
      },
    )
    this.#keeper = keeper
    this.origin = origin
    this.id = id
    this.#with = uid
  }

  /** Returns if its question was asked at a place of this keeper; each border has its own. */
  isOf(keeper: MirrorKeeper): boolean {
    return this.#keeper === keeper
  }

  override tell(answer: unknown): void {
    if (fuse.catcher !== undefined) fuse.catcher.caught(this, answer, undefined)
    else if (this.#left) this.#keeper.answeredElsewhere(this, answer)
    else super.tell(answer)
  }

  override moved(to: Cell): void {
    super.moved(to)
    if (this.settled || to.ref.uid === this.#with) return
    this.#with = to.ref.uid
    this.#keeper.moved(this, to)
  }

  /** Whoever it was sent to has it for this actor: nobody need be told. */
  takenBy(to: Cell): void {
    super.moved(to)
    this.#with = to.ref.uid
  }

  /** It goes on to another thread, or nobody waits for it: nothing is told, and nobody here waits for it. */
  leave(cause: unknown): void {
    this.#left = true
    this.fail(cause)
  }
}
