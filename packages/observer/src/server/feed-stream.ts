// One stream to one page: frames of rounds, for the view that is open. A page that does not read loses rounds and is told how many; when it
// reads again it gets everything anew. Nothing is kept for it meanwhile, and whoever does not read for long is let go.

import { encodeFrame, type FeedFrame } from '../feed/frames.ts'
import type { Hello, RoundNews, View } from '../feed/news.ts'
import type { GuardedStream } from './guarded-server.ts'
import type { Hub } from './hub.ts'

/** Bytes that may wait for a page that is slow. */
const waitingMost = 512 * 1024
/** Rounds that a page may not read before it is let go. */
const skippedMost = 30

export class FeedStream {
  readonly view: View
  readonly #hub: Hub
  readonly #to: GuardedStream
  /** The last round that it carried; none so far. */
  #seq = -1
  #skipped = 0

  constructor(hub: Hub, to: GuardedStream, view: View) {
    this.#hub = hub
    this.#to = to
    this.view = view
  }

  /** Begins; ends by itself with its connection. */
  async open(hello: Hello): Promise<void> {
    this.#send({ kind: 'hello', hello })
    let gone = false
    let leave: (() => void) | undefined
    void this.#to.closed.then(() => {
      gone = true
      leave?.()
    })
    leave = await this.#hub.listen(this)
    // It may have gone while the first round was made.
    if (gone) leave()
  }

  told(news: RoundNews): void {
    if (this.#to.waiting > waitingMost) {
      if (++this.#skipped > skippedMost) this.#to.drop()
      return
    }
    this.#send({ kind: 'round', round: { ...news, skipped: this.#skipped } })
    if (this.view === 'overview') this.#tellCells(news.seq)
    this.#seq = news.seq
    this.#skipped = 0
  }

  end(reason: string): void {
    this.#send({ kind: 'end', reason })
    this.#to.end()
  }

  /** What changed, where this stream has heard all before it; else all of them. */
  #tellCells(seq: number): void {
    const { standing } = this.#hub
    const follows = standing.seq === seq && this.#seq === seq - 1
    this.#send({ kind: 'cells', cells: follows ? standing.changes : standing.whole() })
  }

  #send(frame: FeedFrame): void {
    this.#to.write(encodeFrame(frame))
  }
}
