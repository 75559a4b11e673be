// The actor of one connection. It owns its socket, reads commands out of its chunks and works them off in order: runs of
// commands that a keyspace can answer go there as one batch, the rest is answered by the session. One question is out
// at a time, and nothing is asked while the peer does not read: memory stays bounded whatever the peer does.

import { type Connection, FrameError, respRequests, type RespRequests } from '@troupe/node'
import { type ActorContext, type ActorRef, type Behavior, receive, same, setup } from 'troupe'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import { execute, find } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { answerLocally, Session } from './session.ts'
import { Store } from './store.ts'

/** Commands of one batch. */
const batchSize = 64
/** Commands waiting at which reading stops, and at which it goes on. */
const many = 256
const few = 32

/** Serves the commands that need no keyspace; stays empty. */
const nowhere = new Store(() => 0)

class Worker {
  readonly session: Session
  readonly #socket: Connection
  readonly #self: ActorRef<ConnectionMessage>
  readonly #requests: RespRequests<string> = respRequests()
  #todo: string[][] = []
  #at = 0
  /** The batch that a keyspace has. */
  #batch: string[][] | undefined = undefined
  #problem: string | undefined = undefined
  /** The peer takes no more for now. */
  #full = false
  #reading = true

  constructor(socket: Connection, session: Session, self: ActorRef<ConnectionMessage>) {
    this.#socket = socket
    this.session = session
    this.#self = self
  }

  /** Takes the commands of a chunk. What breaks the protocol is answered behind them, and ends the connection. */
  take(ctx: ActorContext<ConnectionMessage>, chunk: Buffer): void {
    if (this.#problem !== undefined || this.session.closing) return
    if (this.#at === this.#todo.length) {
      this.#todo = []
      this.#at = 0
    }
    try {
      this.#requests.read(chunk, this.#todo)
    } catch (cause) {
      if (!(cause instanceof FrameError)) throw cause
      this.#problem = cause.problem
    }
    this.work(ctx)
  }
  batchDone(ctx: ActorContext<ConnectionMessage>, text: string, done: number): void {
    const rest = this.#batch?.slice(done)
    this.#batch = undefined
    if (rest !== undefined && rest.length > 0) {
      this.#todo = [...rest, ...this.#todo.slice(this.#at)]
      this.#at = 0
    }
    this.answered(ctx, text)
  }
  answered(ctx: ActorContext<ConnectionMessage>, text: string): void {
    this.session.waiting = false
    this.session.out += text
    this.work(ctx)
  }
  drained(ctx: ActorContext<ConnectionMessage>): void {
    this.#full = false
    this.work(ctx)
  }
  /** Writes at once, between answers: what a subscriber hears. */
  push(text: string): void {
    if (!this.#socket.write(text, 'latin1')) this.#full = true
  }

  /** Goes on until there is nothing to do, something to wait for, or a peer that does not read. */
  work(ctx: ActorContext<ConnectionMessage>): void {
    const { session } = this
    const todo = this.#todo
    while (!session.waiting && !this.#full && !session.closing && this.#at < todo.length) {
      const args = todo[this.#at]!
      if (!session.special && find(args[0]!) !== undefined) this.#plain(args)
      else {
        this.#at++
        answerLocally(ctx, args, session)
      }
      if (session.out.length > 65_536) this.#flush()
    }
    const through = this.#at === this.#todo.length && !session.waiting
    if (through && this.#problem !== undefined && !session.closing) {
      session.out += `-ERR Protocol error: ${this.#problem}\r\n`
      session.closing = true
    }
    this.#flush()
    if (session.closing && !session.waiting) this.#socket.end()
    else this.#pace()
  }

  #plain(args: string[]): void {
    const { session } = this
    const name = find(args[0]!)!.name
    if (name === 'PING' || name === 'ECHO') {
      this.#at++
      const out = new Replies()
      execute(nowhere, args, out)
      session.out += out.text
      return
    }
    const from = this.#at
    const last = Math.min(this.#todo.length, from + batchSize)
    do this.#at++
    while (this.#at < last && find(this.#todo[this.#at]![0]!) !== undefined)
    const whole = from === 0 && this.#at === this.#todo.length
    const commands = whole ? this.#todo : this.#todo.slice(from, this.#at)
    this.#batch = commands
    session.waiting = true
    session.keyspace.tell({ type: 'batch', commands, transaction: false, from: this.#self })
  }
  #flush(): void {
    const { out } = this.session
    if (out === '') return
    this.session.out = ''
    if (!this.#socket.write(out, 'latin1')) this.#full = true
  }
  /** Reads on, or stops reading, by how much is left to do. */
  #pace(): void {
    const left = this.#todo.length - this.#at
    if (this.#reading ? left < many && !this.#full : left > few || this.#full) return
    this.#reading = !this.#reading
    if (this.#reading) this.#socket.resume()
    else this.#socket.pause()
  }
}

export const connection =
  (backstage: Backstage) =>
  (socket: Connection): Behavior<ConnectionMessage> =>
    setup((context) => {
      const session = new Session(backstage, socket.remote)
      const worker = new Worker(socket, session, context.self)
      return receive<ConnectionMessage>(
        (ctx, m) => {
          switch (m.type) {
            case 'data':
              worker.take(ctx, m.chunk)
              return same
            case 'batch-done':
              worker.batchDone(ctx, m.text, m.done)
              return same
            case 'answer':
              worker.answered(ctx, m.text)
              return same
            case 'publish-done':
              worker.answered(ctx, `:${m.receivers}\r\n`)
              return same
            case 'published': {
              const out = new Replies()
              const { pattern, channel, message } = m
              if (pattern === undefined) out.bulks(['message', channel, message], 3)
              else out.bulks(['pmessage', pattern, channel, message], 4)
              worker.push(out.text)
              return same
            }
            case 'drained':
              worker.drained(ctx)
              return same
            default:
              // A peer that vanished, or does not read, is no failure of ours: its connection ends, and this actor.
              return same
          }
        },
        (_ctx, signal) => {
          if (signal.type === 'PostStop') session.end()
          return same
        },
      )
    })
