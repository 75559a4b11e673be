// A system on the real event loop and an actor whose messages a test can await, for tests with real sockets.
// Nothing here waits by the clock: a message that never comes runs into the test's own time limit, with what did come.

import { type ActorRef, ActorSystem, type Behavior, receive, same, type SystemOptions, unhandled } from '@troupe/core'

export class Inbox<M extends { readonly type: string }> {
  readonly seen: M[] = []
  readonly #waiting: { readonly type: string; readonly resolve: (message: never) => void }[] = []
  ref!: ActorRef<M>
  /** Types that are not handled, so that what they mean to the sender can be tested. */
  readonly unhandled: readonly string[]
  constructor(unhandledTypes: readonly string[] = []) {
    this.unhandled = unhandledTypes
  }
  take(message: M): void {
    const at = this.#waiting.findIndex((w) => w.type === message.type)
    if (at < 0) this.seen.push(message)
    else this.#waiting.splice(at, 1)[0]!.resolve(message as never)
  }
  /** The next message of that type, now or later. */
  next<K extends M['type']>(type: K): Promise<Extract<M, { type: K }>> {
    const at = this.seen.findIndex((m) => m.type === type)
    if (at >= 0) return Promise.resolve(this.seen.splice(at, 1)[0] as Extract<M, { type: K }>)
    return new Promise((resolve) => this.#waiting.push({ type, resolve }))
  }
  behavior(): Behavior<M> {
    return receive((_ctx, message) => {
      if (this.unhandled.includes(message.type)) return unhandled
      this.take(message)
      return same
    })
  }
}

export function hostSystem(options: SystemOptions = {}): ActorSystem {
  return ActorSystem.create('io-test', { keepAlive: false, logger: false, askTimeout: 30_000, ...options })
}

export function inbox<M extends { readonly type: string }>(system: ActorSystem, unhandledTypes: readonly string[] = []): Inbox<M> {
  const box = new Inbox<M>(unhandledTypes)
  box.ref = system.spawn(box.behavior())
  return box
}

/**
 * Lets the host serve its events until `done`. What other processes have to do with takes as long as the machine lets them:
 * the later passes wait a little, and only 40 seconds are too long, so that a busy machine is not mistaken for a leak.
 */
export async function until(done: () => boolean, pass: () => Promise<unknown> = nextPass): Promise<void> {
  const end = performance.now() + 40_000
  for (let i = 0; !done(); i++) {
    if (performance.now() > end) throw new Error('still not so after 40 s')
    await pass()
    if (i >= 1000) await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
const nextPass = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What keeps the process busy, of the kinds that I/O leaves behind when it leaks. */
export function resources(): string[] {
  const kinds = /TCP|Pipe|TLS|UDP|FS|Process|Signal|TTY|HTTP/i
  return process
    .getActiveResourcesInfo()
    .filter((kind) => kinds.test(kind))
    .sort()
}

/** Runs `body` and fails if it leaves an open handle behind. */
export async function leakless(body: () => Promise<void>): Promise<void> {
  const before = resources()
  await body()
  await until(() => resources().length <= before.length).catch(() => {
    throw new Error(`handles leaked: ${resources().join(', ')}; before: ${before.join(', ')}`)
  })
}
