// The actor that most tests of failure use: it keeps what it was told, fails when told to, and logs its life.

import { type ActorRef, type Behavior, receive, same, setup, supervise, type SupervisionPolicy } from '@troupe/core'

export type Msg = { type: 'say'; word: string } | { type: 'boom'; cause?: unknown } | { type: 'get'; replyTo: ActorRef<string[]> }

export const boom = (cause: unknown = new Error('boom')): Msg => ({ type: 'boom', cause })
export const say = (word: string): Msg => ({ type: 'say', word })

/** Keeps what it was told in this incarnation; everything, in all of them, goes to `log`. Told to wait, it waits. */
export const keeper = (log: string[] = [], until?: Promise<void>): Behavior<Msg> =>
  setup<Msg>((ctx) => {
    const words: string[] = []
    log.push(`setup ${ctx.incarnation}`)
    return receive<Msg>(
      (_ctx, m) => {
        switch (m.type) {
          case 'boom':
            throw m.cause
          case 'say':
            words.push(m.word)
            log.push(m.word)
            return m.word === 'wait' ? until : same
          case 'get':
            m.replyTo.tell([...words])
            return same
        }
      },
      (_ctx, s) => {
        log.push(s.type)
        return same
      },
    )
  })

/** No delay at all. */
export const quick = { min: 0, max: 0, factor: 1, jitter: 0 }
/** Restarts as often as a test may want. */
export const often: SupervisionPolicy = supervise({ limit: { restarts: 1000, within: 1000 }, backoff: quick })

/** A promise and what settles it. */
export function gate(): { promise: Promise<void>; open(): void } {
  let open!: () => void
  const promise = new Promise<void>((resolve) => (open = resolve))
  return { promise, open }
}
