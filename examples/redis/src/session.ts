// What a connection answers itself, because it depends on the connection: transactions, subscriptions, the database it
// is in, its name; and what is about the server as a whole.

import type { Connection } from '@troupe/node'
import type { ActorContext } from 'troupe'
import { find, fits, table, unknown, wrongArity } from './commands/execute.ts'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import type { Outbox } from './outbox.ts'
import { Replies } from './replies.ts'
import { clientReport, configGet, serverInfo } from './server-info.ts'

/** The state of one connection, beyond its socket. */
export interface Session {
  readonly id: number
  name: string
  database: number
  readonly channels: Set<string>
  readonly patterns: Set<string>
  /** Commands since MULTI; undefined outside of a transaction. */
  queued: string[][] | undefined
  /** A command since MULTI was refused, so EXEC will be. */
  broken: boolean
  /** Ends once all answers are out. */
  closing: boolean
  readonly socket: Connection
  readonly backstage: Backstage
}

type Context = ActorContext<ConnectionMessage>
type Answer = (ctx: Context, args: readonly string[], session: Session, outbox: Outbox) => void

const whileSubscribed = new Set(['SUBSCRIBE', 'UNSUBSCRIBE', 'PSUBSCRIBE', 'PUNSUBSCRIBE', 'PING', 'QUIT'])
const neverQueued = new Set(['MULTI', 'EXEC', 'DISCARD', 'QUIT'])

/** Answers a command that no keyspace can, or that must wait for EXEC. */
export function answerLocally(ctx: Context, args: readonly string[], session: Session, outbox: Outbox): void {
  const name = args[0]!.toUpperCase()
  const local = locals.get(name)
  const arity = local?.arity ?? find(name)?.arity
  const error = (text: string): void => {
    if (session.queued !== undefined) session.broken = true
    outbox.put(`-${text}\r\n`)
  }
  if (arity === undefined) return error(unknown(args))
  if (!fits(arity, args.length)) return error(wrongArity(name))
  const subscribed = session.channels.size + session.patterns.size > 0
  if (subscribed && !whileSubscribed.has(name)) {
    const only = '(P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT'
    return error(`ERR Can't execute '${name.toLowerCase()}': only ${only} are allowed in this context`)
  }
  if (session.queued !== undefined && !neverQueued.has(name)) {
    if (local !== undefined) return error(`ERR ${name} is not supported inside MULTI`)
    session.queued.push([...args])
    return outbox.put('+QUEUED\r\n')
  }
  if (local !== undefined) return local.answer(ctx, args, session, outbox)
  // Only PING is left here: RESP2 answers it as a push while subscribed.
  const out = new Replies()
  out.bulks(['pong', args[1] ?? ''], 2)
  outbox.put(out.text)
}

const locals = new Map<string, { readonly arity: number; readonly answer: Answer }>()
const define = (name: string, arity: number, answer: Answer): void => void locals.set(name, { arity, answer })

/** How many commands COMMAND COUNT reports. */
export const commandCount = (): number => table.size / 2 + locals.size

define('MULTI', 1, (_ctx, _args, session, outbox) => {
  if (session.queued !== undefined) return outbox.put('-ERR MULTI calls can not be nested\r\n')
  session.queued = []
  session.broken = false
  outbox.put('+OK\r\n')
})
define('DISCARD', 1, (_ctx, _args, session, outbox) => {
  if (session.queued === undefined) return outbox.put('-ERR DISCARD without MULTI\r\n')
  session.queued = undefined
  outbox.put('+OK\r\n')
})
define('EXEC', 1, (ctx, _args, session, outbox) => {
  const commands = session.queued
  if (commands === undefined) return outbox.put('-ERR EXEC without MULTI\r\n')
  session.queued = undefined
  if (session.broken) return outbox.put('-EXECABORT Transaction discarded because of previous errors.\r\n')
  session.backstage.keyspaces[session.database]!.tell({ type: 'batch', commands, transaction: true, from: ctx.self })
  outbox.wait('batch')
})
define('FLUSHALL', -1, (ctx, args, session, outbox) => {
  const { keyspaces } = session.backstage
  for (const keyspace of keyspaces) keyspace.tell({ type: 'flush' })
  keyspaces[session.database]!.tell({ type: 'batch', commands: [['FLUSHALL', ...args.slice(1)]], transaction: false, from: ctx.self })
  outbox.wait('batch')
})
define('SELECT', 2, (_ctx, args, session, outbox) => {
  const index = Number(args[1])
  if (!Number.isInteger(index)) return outbox.put('-ERR value is not an integer or out of range\r\n')
  if (session.backstage.keyspaces[index] === undefined) return outbox.put('-ERR DB index is out of range\r\n')
  session.database = index
  outbox.put('+OK\r\n')
})
define('QUIT', -1, (_ctx, _args, session, outbox) => {
  outbox.put('+OK\r\n')
  session.closing = true
})

function subscribing(name: string, kind: 'channels' | 'patterns', on: boolean): void {
  define(name, on ? -2 : -1, (ctx, args, session, outbox) => {
    const mine = session[kind]
    const named = args.slice(1)
    const out = new Replies()
    const report = (channel: string | undefined): void => {
      out.array(3)
      out.bulk(name.toLowerCase())
      out.bulk(channel)
      out.integer(session.channels.size + session.patterns.size)
    }
    const channels = on || named.length > 0 ? named : [...mine]
    for (const channel of channels) {
      const changed = on ? !mine.has(channel) : mine.has(channel)
      if (on) mine.add(channel)
      else mine.delete(channel)
      const pattern = kind === 'patterns'
      if (changed) session.backstage.pubsub.tell({ type: on ? 'subscribe' : 'unsubscribe', channel, pattern, subscriber: ctx.self })
      report(channel)
    }
    if (channels.length === 0) report(undefined)
    outbox.put(out.text)
  })
}
subscribing('SUBSCRIBE', 'channels', true)
subscribing('UNSUBSCRIBE', 'channels', false)
subscribing('PSUBSCRIBE', 'patterns', true)
subscribing('PUNSUBSCRIBE', 'patterns', false)

define('PUBLISH', 3, (ctx, args, session, outbox) => {
  session.backstage.pubsub.tell({ type: 'publish', channel: args[1]!, message: args[2]!, from: ctx.self })
  outbox.wait('publish')
})

/** Keeps a place for what other actors have to be asked for. */
function later(ctx: Context, outbox: Outbox, promise: Promise<string>): void {
  outbox.wait('answer')
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`
  ctx.pipeToSelf(
    promise,
    (text) => ({ type: 'answer', text: bulk(text) }),
    () => ({ type: 'answer', text: '-ERR the server did not answer in time\r\n' }),
  )
}

define('INFO', -1, (ctx, args, session, outbox) => later(ctx, outbox, serverInfo(ctx, session.backstage, args.slice(1))))
define('CONFIG', -2, (_ctx, args, _session, outbox) => {
  const out = new Replies()
  const verb = args[1]!.toUpperCase()
  if (verb === 'GET' && args.length > 2) configGet(args.slice(2), out)
  else if (verb === 'RESETSTAT') out.ok()
  else out.error(`ERR unknown subcommand or wrong number of arguments for '${args[1]!.slice(0, 64)}'. Try CONFIG GET.`)
  outbox.put(out.text)
})
define('COMMAND', -1, (_ctx, args, _session, outbox) => {
  const out = new Replies()
  const verb = args[1]?.toUpperCase()
  if (verb === 'COUNT') out.integer(commandCount())
  else if (verb === undefined) {
    const all = [...new Set(table.values())]
    out.array(all.length)
    for (const { name, arity } of all) {
      out.array(6)
      out.bulk(name.toLowerCase())
      out.integer(arity)
      out.array(0)
      for (let i = 0; i < 3; i++) out.integer(0)
    }
  } else if (verb === 'DOCS' || verb === 'INFO' || verb === 'LIST') out.array(0)
  else out.error('ERR unknown subcommand. Try COMMAND COUNT.')
  outbox.put(out.text)
})
define('CLIENT', -2, (ctx, args, session, outbox) => {
  const out = new Replies()
  const { id, socket, backstage } = session
  switch (args[1]!.toUpperCase()) {
    case 'ID':
      out.integer(id)
      break
    case 'GETNAME':
      out.bulk(session.name)
      break
    case 'SETNAME': {
      const name = args[2] ?? ''
      if (/[\s\p{Cc}]/u.test(name)) out.error('ERR Client names cannot contain spaces, newlines or special characters.')
      else {
        session.name = name
        const { host, port, path } = socket.remote
        backstage.clients.tell({ type: 'joined', client: { id, name, address: path ?? `${host}:${port}` } })
        out.ok()
      }
      break
    }
    case 'SETINFO':
    case 'NO-EVICT':
    case 'NO-TOUCH':
      out.ok()
      break
    case 'LIST':
      return later(ctx, outbox, clientReport(ctx, backstage))
    default:
      out.error('ERR unknown subcommand. Try CLIENT ID, GETNAME, SETNAME or LIST.')
  }
  outbox.put(out.text)
})
define('DEBUG', -2, (_ctx, args, _session, outbox) => {
  // What PANIC is to Redis: here it takes one connection down, and nothing else.
  if (args[1]!.toUpperCase() === 'PANIC') throw new Error('DEBUG PANIC was asked for')
  outbox.put('-ERR unknown subcommand. Try DEBUG PANIC.\r\n')
})
