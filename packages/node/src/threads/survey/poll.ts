// One question to several threads at once: their answers are gathered until all have given theirs or are gone. What is asked, how,
// and what the answers come to is for those who ask.

/** Told of the answers, by the number of the thread; of none where the question was dropped. */
export type Gathered<A> = (answers: ReadonlyMap<number, A> | undefined) => void

interface Round<A> {
  readonly awaited: Set<number>
  readonly answers: Map<number, A>
  readonly done: Gathered<A>
}

export class Poll<A> {
  readonly #rounds = new Map<number, Round<A>>()
  #last = 0

  /** Waits for these; returns the number of the question, which is higher than that of any before. Where nobody is waited for it is over at once. */
  begin(awaited: Iterable<number>, done: Gathered<A>): number {
    const id = ++this.#last
    this.#rounds.set(id, { awaited: new Set(awaited), answers: new Map(), done })
    this.#endIfWhole(id)
    return id
  }
  /** A thread has answered. False: nobody waited for that, or does any more. */
  answered(id: number, by: number, answer: A): boolean {
    const round = this.#rounds.get(id)
    if (round?.awaited.delete(by) !== true) return false
    round.answers.set(by, answer)
    this.#endIfWhole(id)
    return true
  }
  /** A thread is gone: nobody waits for it. What it has answered stands. */
  gone(epoch: number): void {
    for (const [id, { awaited }] of this.#rounds) if (awaited.delete(epoch)) this.#endIfWhole(id)
  }
  /** The answers that have come are enough. */
  enough(id: number): void {
    const round = this.#rounds.get(id)
    this.#rounds.delete(id)
    round?.done(round.answers)
  }
  /** Nobody needs the answers to what is open. */
  drop(): void {
    const rounds = [...this.#rounds.values()]
    this.#rounds.clear()
    for (const { done } of rounds) done(undefined)
  }

  /** Whose answers are still to come: one list for each question that is open. */
  get awaited(): readonly (readonly number[])[] {
    return Array.from(this.#rounds.values(), ({ awaited }) => [...awaited])
  }
  awaitedFor(id: number): readonly number[] {
    return [...(this.#rounds.get(id)?.awaited ?? [])]
  }

  #endIfWhole(id: number): void {
    if (this.#rounds.get(id)?.awaited.size === 0) this.enough(id)
  }
}
