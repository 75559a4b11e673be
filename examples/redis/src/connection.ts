// The actor of one connection. It owns its socket, reads commands out of its chunks and works them off in order: what a
// keyspace can answer goes there as one batch, with all that came behind it, the rest is answered by the session. One question is out
// at a time, and nothing is asked while the peer does not read: memory stays bounded whatever the peer does.

import { type Connection, FrameError, respRequests, type RespRequests } from '@troupe/node'
import { type ActorContext, type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import type { Command } from './commands/command.ts'
import { find, run } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { answerLocally, Session } from './session.ts'
import { Store } from './store.ts'

/** Commands waiting at which reading stops, and at which it goes on. */
const many = 256
const few = 32

/** Serves the commands that need no keyspace; stays empty. */
const nowhere = new Store(() => 0)

const none: readonly string[][] = []

class Worker {
  readonly session: Session
  readonly #socket: Connection
  readonly #self: ActorRef<ConnectionMessage>
  readonly #requests: RespRequests<string> = respRequests()
  /** Commands under way, which a keyspace may be looking at, and the next one's place among them. */
  #commands: readonly string[][] = none
  #at = 0
  /** Commands that came meanwhile. */
  #next: string[][] | undefined = undefined
  /** Bytes that they and those under way came in. */
  #bytes = 0
  #nextBytes = 0
  /** A keyspace has the commands under way. */
  #asked = false
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
    this.#nextBytes += chunk.length
    try {
      this.#requests.read(chunk, (this.#next ??= []))
    } catch (cause) {
      if (!(cause instanceof FrameError)) throw cause
      this.#problem = cause.problem
    }
    this.work(ctx)
  }
  batchDone(ctx: ActorContext<ConnectionMessage>, text: string, done: number): void {
    // What EXEC and FLUSHALL send are no commands of ours.
    if (this.#asked) this.#at += done
    this.#asked = false
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
    while (!session.waiting && !this.#full && !session.closing && this.#more()) {
      const args = this.#commands[this.#at]!
      const found = session.special ? undefined : find(args[0]!)
      if (found === undefined) {
        this.#at++
        answerLocally(ctx, args, session)
      } else if (found.stateless) this.#answerStateless(found)
      else this.#askKeyspace()
      if (session.out.length > 65_536) this.#flush()
    }
    if (!session.waiting && this.#problem !== undefined && !session.closing && !this.#more()) {
      session.out += `-ERR Protocol error: ${this.#problem}\r\n`
      session.closing = true
    }
    this.#flush()
    if (session.closing && !session.waiting) this.#socket.end()
    else this.#pace()
  }

  /** Whether there is a command to work on. */
  #more(): boolean {
    if (this.#at < this.#commands.length) return true
    // An idle connection keeps nothing of what it did.
    this.#commands = this.#next ?? none
    this.#next = undefined
    this.#bytes = this.#nextBytes
    this.#nextBytes = 0
    this.#at = 0
    return this.#commands.length > 0
  }
  /** Answers the run of commands that need no keyspace, with which those under way begin. */
  #answerStateless(first: Command): void {
    const out = new Replies()
    const commands = this.#commands
    let found: Command | undefined = first
    do {
      run(found, nowhere, commands[this.#at]!, out)
      found = ++this.#at < commands.length ? find(commands[this.#at]![0]!) : undefined
    } while (found?.stateless === true && out.text.length < 65_536)
    this.session.out += out.text
  }
  /** Gives all that is under way to the keyspace, which takes as many as it can answer. */
  #askKeyspace(): void {
    const { session } = this
    session.waiting = true
    this.#asked = true
    session.keyspace.tell({ type: 'batch', commands: this.#commands, first: this.#at, transaction: false, from: this.#self })
  }
  #flush(): void {
    const { out } = this.session
    if (out === '') return
    this.session.out = ''
    if (!this.#socket.write(out, 'latin1')) this.#full = true
  }
  /** Reads on, or stops reading, by how much is left to do. */
  #pace(): void {
    const left = this.#commands.length - this.#at + (this.#next?.length ?? 0)
    const large = this.#bytes + this.#nextBytes > this.session.backstage.limits.waiting
    if (this.#reading ? left < many && !large && !this.#full : left > few || large || this.#full) return
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
