// The other end of the socket: asks, and is told. For the command line, and for tools of one's own.

import { connect, type Socket } from 'node:net'
import { InvalidOption, NotAllowed } from '@troupe/core'
import type { Descriptor } from './directory.ts'
import { LineReader } from './lines.ts'
import type { Operation, Operations, Response, Watched, WatchWishes } from './protocol.ts'

/** What a process that we look at may send as one line: it is ours, but a bug of it must not fill our memory. */
const longestAnswer = 256 * 1024 * 1024
const patience = 10_000

/** A system that is looked at from another process. */
export interface Attached {
  readonly descriptor: Descriptor
  /** Asks once. Fails with `NotAllowed` when the system refuses, or has gone. */
  ask<O extends Exclude<Operation, 'watch' | 'end'>>(op: O, given?: Operations[O]['takes']): Promise<Operations[O]['gives']>
  /** What happens from now on, once a round, until the loop is left. */
  watch(wishes?: WatchWishes): AsyncIterable<Watched>
  close(): void
}

interface Waiting {
  take(result: unknown): void
  fail(cause: Error): void
}

/**
 * Attaches to a system that `observe` has opened; `listSystems` names them.
 *
 * Guarantees: it only looks. Fails: with `NotAllowed` where nobody answers.
 *
 * @example
 * const [first] = listSystems()
 * const attached = await attach(first!)
 * console.log((await attached.ask('hello')).metrics.active)
 */
export function attach(descriptor: Descriptor): Promise<Attached> {
  return new Promise((resolve, reject) => {
    const own = readDescriptor(descriptor)
    const socket = connect({ path: own.socket })
    socket.setTimeout(patience, () => socket.destroy(new Error('no answer')))
    socket.once('error', (cause) => reject(gone(own, cause)))
    socket.once('connect', () => {
      socket.setTimeout(0)
      resolve(new Client(socket, own))
    })
  })
}

/** Read once, as far as it is used here. */
function readDescriptor(descriptor: unknown): Descriptor {
  let own: Descriptor | undefined
  try {
    own = { ...(descriptor as Descriptor) }
  } catch {}
  if (typeof own?.socket === 'string' && own.socket !== '' && typeof own.system === 'string' && typeof own.pid === 'number') return own
  throw new InvalidOption('descriptor', descriptor, 'use one that listSystems gives')
}

function gone({ system, pid }: Descriptor, cause?: unknown): NotAllowed {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new NotAllowed(`System ${system} of process ${pid} cannot be reached${why}. Is it still running, and does it call observe(system)?`)
}

class Client implements Attached {
  readonly descriptor: Descriptor
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #over = false

  constructor(socket: Socket, descriptor: Descriptor) {
    this.#socket = socket
    this.descriptor = descriptor
    const reader = new LineReader(
      (line) => this.#take(line as Response),
      () => socket.destroy(),
      longestAnswer,
    )
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => reader.take(text))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#end())
  }

  #take(response: Response): void {
    const waiting = response.id === null ? undefined : this.#waiting.get(response.id)
    if (response.ok) waiting?.take(response.result)
    else waiting?.fail(new NotAllowed(`System ${this.descriptor.system} refused: ${response.error.message}.`))
  }
  #end(): void {
    this.#over = true
    for (const waiting of this.#waiting.values()) waiting.fail(gone(this.descriptor))
    this.#waiting.clear()
  }
  #send(op: Operation, given: object, waiting: Waiting): number {
    const id = ++this.#last
    if (this.#over) waiting.fail(gone(this.descriptor))
    else {
      this.#waiting.set(id, waiting)
      this.#socket.write(`${JSON.stringify({ ...given, id, op })}\n`)
    }
    return id
  }

  ask<O extends Exclude<Operation, 'watch' | 'end'>>(op: O, given: Operations[O]['takes'] = {}): Promise<Operations[O]['gives']> {
    return new Promise((resolve, reject) => {
      const id: number = this.#send(op, given, {
        take: (result) => {
          this.#waiting.delete(id)
          resolve(result as Operations[O]['gives'])
        },
        fail: (cause) => {
          this.#waiting.delete(id)
          reject(cause)
        },
      })
    })
  }

  async *watch(wishes: WatchWishes = {}): AsyncGenerator<Watched> {
    const told: Watched[] = []
    let wake = (): void => {}
    let failed: Error | undefined
    const id = this.#send('watch', wishes, {
      take: (result) => {
        told.push(result as Watched)
        wake()
      },
      fail: (cause) => {
        failed = cause
        wake()
      },
    })
    try {
      for (;;) {
        const next = told.shift()
        if (next !== undefined) yield next
        else if (failed !== undefined) throw failed
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.#waiting.delete(id)
      // What is answered is of no interest: an id that nobody waits for is passed over.
      if (!this.#over) this.#waiting.delete(this.#send('end', { watch: id }, { take: () => {}, fail: () => {} }))
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
