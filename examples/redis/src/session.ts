// What a connection answers itself, because it depends on the connection: transactions, subscriptions, the database it
// is in, its name; and what is about the server as a whole.

import type { Endpoint } from '@troupe/node'
import type { ActorContext, ActorRef } from '@troupe/core'
import { find, fits, shown, table, unknown, wrongArity } from './commands/execute.ts'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import type { Keyspace } from './keyspace.ts'
import { costOf, costOfName } from './limits.ts'
import { Replies } from './replies.ts'
import { clientReport, configGet, serverInfo } from './server-info.ts'

const none: ReadonlySet<string> = new Set()

/** Commands of one transaction at most. */
const longestTransaction = 10_000

type Kind = 'channels' | 'patterns'

/** The state of one connection, beyond its socket. */
export class Session {
  readonly id: number
  readonly address: string
  readonly backstage: Backstage
  name = ''
  database = 0
  readonly #names: Record<Kind, Set<string> | undefined> = { channels: undefined, patterns: undefined }
  /** What the names cost. */
  #subscribed = 0
  /** Commands since MULTI; undefined outside of a transaction. */
  queued: (readonly string[])[] | undefined = undefined
  /** What they cost. */
  #queuedCost = 0
  /** A command since MULTI was refused, so EXEC will be. */
  broken = false
  /** Ends once all answers are out. */
  closing = false
  /** Another actor has to answer before the next command. */
  waiting = false
  /** Answers to write. */
  out = ''

  constructor(backstage: Backstage, remote: Endpoint) {
    this.backstage = backstage
    this.id = backstage.nextId()
    this.address = remote.path ?? `${remote.host}:${remote.port}`
    this.tellWho()
  }
  get keyspace(): ActorRef<Keyspace> {
    return this.backstage.keyspaces[this.database]!
  }
  get subscriptions(): number {
    return this.names('channels').size + this.names('patterns').size
  }
  /** Every command has to be looked at here: a transaction collects, a subscriber may not do much. */
  get special(): boolean {
    return this.queued !== undefined || this.#subscribed > 0
  }
  /** Adds an answer to what will be written. */
  put(text: string): void {
    this.out += text
  }
  tellWho(): void {
    const { id, address, name } = this
    this.backstage.clients.tell({ type: 'joined', client: { id, address, name } })
  }
  names(kind: Kind): ReadonlySet<string> {
    return this.#names[kind] ?? none
  }
  /** Whether that was news, or why not. */
  subscribe(kind: Kind, name: string): 'new' | 'known' | 'refused' {
    if (this.names(kind).has(name)) return 'known'
    const cost = costOfName(name)
    if (this.#subscribed + cost > this.backstage.limits.subscriptions) return 'refused'
    this.#subscribed += cost
    ;(this.#names[kind] ??= new Set()).add(name)
    return 'new'
  }
  unsubscribe(kind: Kind, name: string): 'new' | 'known' {
    const names = this.#names[kind]
    if (names?.delete(name) !== true) return 'known'
    this.#subscribed -= costOfName(name)
    if (names.size === 0) this.#names[kind] = undefined
    return 'new'
  }
  begin(): void {
    this.queued = []
    this.#queuedCost = 0
    this.broken = false
  }
  /** Keeps a command for EXEC, unless that will be refused anyway; why not, where it is too much. */
  queue(args: readonly string[]): string | undefined {
    if (this.queued === undefined || this.broken) return undefined
    if (this.queued.length >= longestTransaction) return 'ERR too many commands in a transaction'
    this.#queuedCost += costOf(args)
    if (this.#queuedCost > this.backstage.limits.transaction) return 'ERR the transaction is too large'
    this.queued.push(args)
    return undefined
  }
  /** The transaction will be refused: nothing of it is kept. */
  spoil(): void {
    if (this.queued === undefined) return
    this.queued = []
    this.broken = true
  }
  end(): void {
    this.backstage.clients.tell({ type: 'left', id: this.id })
  }
}

type Context = ActorContext<ConnectionMessage>
type Answer = (ctx: Context, args: readonly string[], session: Session) => void

const whileSubscribed = new Set(['SUBSCRIBE', 'UNSUBSCRIBE', 'PSUBSCRIBE', 'PUNSUBSCRIBE', 'PING', 'QUIT'])
const neverQueued = new Set(['MULTI', 'EXEC', 'DISCARD', 'QUIT'])

/** Answers a command that no keyspace can, or that must wait for EXEC. */
export function answerLocally(ctx: Context, args: readonly string[], session: Session): void {
  const name = args[0]!.toUpperCase()
  const local = locals.get(name)
  const arity = local?.arity ?? find(name)?.arity
  const error = (text: string): void => {
    session.spoil()
    session.put(`-${text}\r\n`)
  }
  if (arity === undefined) return error(unknown(args))
  if (!fits(arity, args.length)) return error(wrongArity(name))
  if (session.subscriptions > 0 && !whileSubscribed.has(name)) {
    const only = '(P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT'
    return error(`ERR Can't execute '${name.toLowerCase()}': only ${only} are allowed in this context`)
  }
  if (session.queued !== undefined && !neverQueued.has(name)) {
    if (local !== undefined) return error(`ERR ${name} is not supported inside MULTI`)
    const problem = session.queue(args)
    return problem === undefined ? session.put('+QUEUED\r\n') : error(problem)
  }
  if (local !== undefined) return local.answer(ctx, args, session)
  // Only PING is left here: RESP2 answers it as a push while subscribed.
  const out = new Replies()
  out.bulks(['pong', args[1] ?? ''], 2)
  session.put(out.text)
}

const locals = new Map<string, { readonly arity: number; readonly answer: Answer }>()
const define = (name: string, arity: number, answer: Answer): void => void locals.set(name, { arity, answer })

/** How many commands COMMAND COUNT reports. */
export const commandCount = (): number => table.size / 2 + locals.size

define('MULTI', 1, (_ctx, _args, session) => {
  if (session.queued !== undefined) return session.put('-ERR MULTI calls can not be nested\r\n')
  session.begin()
  session.put('+OK\r\n')
})
define('DISCARD', 1, (_ctx, _args, session) => {
  if (session.queued === undefined) return session.put('-ERR DISCARD without MULTI\r\n')
  session.queued = undefined
  session.put('+OK\r\n')
})
define('EXEC', 1, (ctx, _args, session) => {
  const commands = session.queued
  if (commands === undefined) return session.put('-ERR EXEC without MULTI\r\n')
  session.queued = undefined
  if (session.broken) return session.put('-EXECABORT Transaction discarded because of previous errors.\r\n')
  session.keyspace.tell({ type: 'batch', commands, first: 0, transaction: true, from: ctx.self })
  session.waiting = true
})
define('FLUSHALL', -1, (ctx, args, session) => {
  const { keyspaces } = session.backstage
  for (const keyspace of keyspaces) keyspace.tell({ type: 'flush' })
  const commands = [['FLUSHDB', ...args.slice(1)]]
  session.keyspace.tell({ type: 'batch', commands, first: 0, transaction: false, from: ctx.self })
  session.waiting = true
})
define('SELECT', 2, (_ctx, args, session) => {
  const index = Number(args[1])
  if (!Number.isInteger(index)) return session.put('-ERR value is not an integer or out of range\r\n')
  if (session.backstage.keyspaces[index] === undefined) return session.put('-ERR DB index is out of range\r\n')
  session.database = index
  session.put('+OK\r\n')
})
define('QUIT', -1, (_ctx, _args, session) => {
  session.put('+OK\r\n')
  session.closing = true
})

function subscribing(name: string, kind: Kind, on: boolean): void {
  define(name, on ? -2 : -1, (ctx, args, session) => {
    const named = args.slice(1)
    const out = new Replies()
    const report = (channel: string | undefined): void => {
      out.array(3)
      out.bulk(name.toLowerCase())
      out.bulk(channel)
      out.integer(session.subscriptions)
    }
    const channels = on || named.length > 0 ? named : [...session.names(kind)]
    const pattern = kind === 'patterns'
    for (const channel of channels) {
      const change = on ? session.subscribe(kind, channel) : session.unsubscribe(kind, channel)
      if (change === 'refused') {
        out.error('ERR too many subscriptions')
        continue
      }
      if (change === 'new') session.backstage.pubsub.tell({ type: on ? 'subscribe' : 'unsubscribe', channel, pattern, subscriber: ctx.self })
      report(channel)
    }
    if (channels.length === 0) report(undefined)
    session.put(out.text)
  })
}
subscribing('SUBSCRIBE', 'channels', true)
subscribing('UNSUBSCRIBE', 'channels', false)
subscribing('PSUBSCRIBE', 'patterns', true)
subscribing('PUNSUBSCRIBE', 'patterns', false)

define('PUBLISH', 3, (ctx, args, session) => {
  session.backstage.pubsub.tell({ type: 'publish', channel: args[1]!, message: args[2]!, from: ctx.self })
  session.waiting = true
})

/** Keeps a place for what other actors have to be asked for. */
function later(ctx: Context, session: Session, promise: Promise<string>): void {
  session.waiting = true
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`
  ctx.pipeToSelf(
    promise,
    (text) => ({ type: 'answer', text: bulk(text) }),
    () => ({ type: 'answer', text: '-ERR the server did not answer in time\r\n' }),
  )
}

define('INFO', -1, (ctx, args, session) => later(ctx, session, serverInfo(ctx, session.backstage, args.slice(1))))
define('CONFIG', -2, (_ctx, args, session) => {
  const out = new Replies()
  const verb = args[1]!.toUpperCase()
  if (verb === 'GET' && args.length > 2) configGet(args.slice(2), out)
  else if (verb === 'RESETSTAT') out.ok()
  else out.error(`ERR unknown subcommand or wrong number of arguments for '${shown(args[1]!)}'. Try CONFIG GET.`)
  session.put(out.text)
})
define('COMMAND', -1, (_ctx, args, session) => {
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
  session.put(out.text)
})
define('CLIENT', -2, (ctx, args, session) => {
  const out = new Replies()
  const { id, backstage } = session
  switch (args[1]!.toUpperCase()) {
    case 'ID':
      out.integer(id)
      break
    case 'GETNAME':
      out.bulk(session.name)
      break
    case 'SETNAME': {
      const name = args[2] ?? ''
      if (name.length > backstage.limits.name) out.error(`ERR Client names cannot be longer than ${backstage.limits.name} bytes.`)
      else if (/[\s\p{Cc}]/u.test(name)) out.error('ERR Client names cannot contain spaces, newlines or special characters.')
      else {
        session.name = name
        session.tellWho()
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
      return later(ctx, session, clientReport(ctx, backstage))
    default:
      out.error('ERR unknown subcommand. Try CLIENT ID, GETNAME, SETNAME or LIST.')
  }
  session.put(out.text)
})
define('DEBUG', -2, (_ctx, args, session) => {
  // What PANIC is to Redis: here it takes one connection down, and nothing else.
  if (args[1]!.toUpperCase() === 'PANIC') throw new Error('DEBUG PANIC was asked for')
  session.put('-ERR unknown subcommand. Try DEBUG PANIC.\r\n')
})
