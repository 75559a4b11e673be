// The actor of one connection. It owns its socket, reads commands out of its chunks and hands them on in batches:
// whatever a keyspace can answer goes there, the rest (subscriptions, transactions, SELECT, CLIENT, …) is answered here,
// in order. It stops reading while too many answers are outstanding or its peer does not read.

import { type Connection, FrameError, respRequests } from '@troupe/node'
import { type ActorContext, type Behavior, receive, same, setup } from 'troupe'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import { execute, find } from './commands/execute.ts'
import { answerLocally, type Session } from './session.ts'
import { Outbox } from './outbox.ts'
import { Replies } from './replies.ts'
import { Store } from './store.ts'

/** Answers outstanding at which reading stops, and at which it goes on. */
const most = 64
const few = 16

/** Commands that need no keyspace at all; a store that stays empty serves them. */
const nowhere = new Store(() => 0)

export const connection =
  (backstage: Backstage) =>
  (socket: Connection): Behavior<ConnectionMessage> =>
    setup(() => {
      const requests = respRequests()
      const session: Session = {
        id: backstage.nextId(),
        name: '',
        database: 0,
        channels: new Set(),
        patterns: new Set(),
        queued: undefined,
        broken: false,
        closing: false,
        socket,
        backstage,
      }
      let held: 'reading' | 'answers' | 'peer' = 'reading'
      const outbox = new Outbox((text) => {
        if (!socket.write(text, 'latin1')) hold('peer')
      })
      const hold = (why: 'answers' | 'peer'): void => {
        if (held === 'reading') socket.pause()
        if (held !== 'peer') held = why
      }
      const go = (): void => {
        held = 'reading'
        socket.resume()
      }
      const { host, port, path } = socket.remote
      backstage.clients.tell({ type: 'joined', client: { id: session.id, address: path ?? `${host}:${port}`, name: '' } })

      return receive<ConnectionMessage>(
        (c, m) => {
          switch (m.type) {
            case 'data':
              take(c, m.chunk, requests, session, outbox)
              if (outbox.open >= most) hold('answers')
              if (session.closing && outbox.open === 0) socket.end()
              return same
            case 'batch-done':
              outbox.fill('batch', m.text)
              break
            case 'publish-done':
              outbox.fill('publish', `:${m.receivers}\r\n`)
              break
            case 'answer':
              outbox.fill('answer', m.text)
              break
            case 'published': {
              const out = new Replies()
              const { pattern, channel, message } = m
              if (pattern === undefined) out.bulks(['message', channel, message], 3)
              else out.bulks(['pmessage', pattern, channel, message], 4)
              outbox.put(out.text)
              return same
            }
            case 'drained':
              if (held === 'peer') go()
              return same
            case 'error':
              // A peer that vanished is no failure of ours.
              return same
            default:
              return same
          }
          if (held === 'answers' && outbox.open <= few) go()
          if (session.closing && outbox.open === 0) socket.end()
          return same
        },
        (_ctx, signal) => {
          if (signal.type === 'PostStop') backstage.clients.tell({ type: 'left', id: session.id })
          return same
        },
      )
    })

/** Reads the commands of a chunk. What breaks the protocol is answered, and the connection ends behind it. */
function take(ctx: ActorContext<ConnectionMessage>, chunk: Buffer, requests: ReturnType<typeof respRequests>, session: Session, outbox: Outbox): void {
  if (session.closing) return
  const commands: string[][] = []
  let problem: string | undefined
  try {
    requests.read(chunk, commands)
  } catch (cause) {
    if (!(cause instanceof FrameError)) throw cause
    problem = cause.message.replace(/^Cannot read the frame: /, '').replace(/\. Close .*$/, '')
  }
  run(ctx, commands, session, outbox)
  if (problem === undefined || session.closing) return
  outbox.put(`-ERR Protocol error: ${problem}\r\n`)
  session.closing = true
}

function run(ctx: ActorContext<ConnectionMessage>, commands: string[][], session: Session, outbox: Outbox): void {
  let batch: string[][] | undefined
  let ready: Replies | undefined
  const send = (): void => {
    if (ready !== undefined) outbox.put(ready.text)
    ready = undefined
    if (batch === undefined) return
    session.backstage.keyspaces[session.database]!.tell({ type: 'batch', commands: batch, transaction: false, from: ctx.self })
    outbox.wait('batch')
    batch = undefined
  }
  for (const args of commands) {
    const plain = session.queued === undefined && session.channels.size === 0 && session.patterns.size === 0
    const known = plain ? find(args[0]!) : undefined
    if (known !== undefined && known.name !== 'FLUSHALL') {
      const alone = batch === undefined && (known.name === 'PING' || known.name === 'ECHO')
      if (alone) execute(nowhere, args, (ready ??= new Replies()))
      else (batch ??= []).push(args)
      continue
    }
    send()
    answerLocally(ctx, args, session, outbox)
    if (session.closing) return
  }
  send()
}
