// Where every message of a cluster is. Nobody is stopped for it: each node writes its part down when the first mark of a count reaches it, and
// passes the mark on by every way it has. Marks travel in order with messages, so that all parts are of one consistent cut; where a node has threads
// its part is written down a moment later, when they are counted, and what came in that moment counts as sent. Once a second each node tells the
// others what it has done so far, so that something is known of it when it is gone.

import { BadRecord } from '@troupe/border'
import type { LedgerReport } from '@troupe/core'
import { ledgerOf, type OtherPlaces, type SystemCore } from '@troupe/core/internal'
import type { NodeBorder } from '../refs/node-border.ts'
import { LedgerIncomplete } from '../values/errors.ts'
import { readSessionText, type Session, sessionText } from '../values/session.ts'
import { type Account, addUp, type CutPart } from './adding-up.ts'
import { checkAccount, checkPart } from './ledger-records.ts'

/** How often a node tells what it has done, where that has changed. */
const accountEvery = 1_000
/** How long a count waits for all parts. */
const patience = 5_000
/** So many accounts of sessions that have ended are kept. */
const accountsKept = 64

interface Count {
  readonly parts: CutPart[]
  readonly missing: Set<string>
  /** Sessions that others name and that are known to have ended. */
  readonly gone: Set<string>
  looking: boolean
  readonly resolve: (ledger: LedgerReport) => void
  readonly reject: (cause: unknown) => void
  readonly cancel: () => void
}

export class ClusterLedger {
  readonly #core: SystemCore
  readonly #border: NodeBorder
  readonly #members: () => readonly Session[]
  /** Messages that are in no mailbox and on no way. */
  readonly #elsewhere: () => number
  /** The threads of this node. */
  readonly #threads: () => Pick<OtherPlaces, 'ledger'> | undefined
  readonly #hasEnded: (session: Session) => Promise<boolean>
  /** The last count of each session that has begun one. */
  readonly #last = new Map<string, number>()
  readonly #counts = new Map<number, Count>()
  /** What others told last. */
  readonly #accounts = new Map<string, Account>()
  readonly #ended = new Map<string, Account>()
  #beat = 0
  #told = ''
  #cancel: () => void

  constructor(
    core: SystemCore,
    border: NodeBorder,
    members: () => readonly Session[],
    elsewhere: () => number,
    threads: () => Pick<OtherPlaces, 'ledger'> | undefined,
    hasEnded: (session: Session) => Promise<boolean>,
  ) {
    this.#core = core
    this.#border = border
    this.#members = members
    this.#elsewhere = elsewhere
    this.#threads = threads
    this.#hasEnded = hasEnded
    const { exchange } = border
    exchange.on('cut', ({ id, by }) => {
      // Of somebody who never was, nothing is remembered.
      if (readSessionText(by) === undefined) throw new BadRecord(`a count by ${JSON.stringify(by.slice(0, 80))}, which is no session`)
      this.#marked(id, by)
    })
    exchange.on('cut.part', ({ id, part }, crossing) => this.#partCame(id, border.places.session(crossing.peer), checkPart(part)))
    exchange.on('account', ({ account }, crossing) => {
      const session = border.places.session(crossing.peer)
      if (session !== undefined) this.#accounts.set(sessionText(session), checkAccount(account))
    })
    // The first records of a new way are marks: whatever goes by it comes after what was written down here.
    border.onWay((crossing) => {
      for (const [by, id] of this.#last) crossing.control({ op: 'cut', id, by })
    })
    this.#cancel = core.runtime.timer(accountEvery, () => this.#tellAgain())
  }

  /** Where every message of all nodes is, at one cut. Rejects with `LedgerIncomplete` where one does not answer. */
  count(): Promise<LedgerReport> {
    const self = sessionText(this.#border.places.self)
    const id = (this.#last.get(self) ?? 0) + 1
    return new Promise((resolve, reject) => {
      const missing = new Set(this.#members().map(sessionText))
      const cancel = this.#core.runtime.timer(patience, () => this.#settle(id, new LedgerIncomplete([...missing], patience)))
      this.#counts.set(id, { parts: [], missing, gone: new Set(), looking: false, resolve, reject, cancel })
      // Whoever has no way to this node yet gets one, and the mark by it.
      for (const session of this.#members()) this.#border.exchange.crossingTo(this.#border.met(session))
      this.#marked(id, self)
    })
  }

  /** A session has ended: its account is the last. */
  ended(session: Session): void {
    const name = sessionText(session)
    this.#last.delete(name)
    const account = this.#accounts.get(name)
    this.#accounts.delete(name)
    if (account !== undefined) this.#ended.set(name, account)
    if (this.#ended.size > accountsKept) this.#ended.delete(this.#ended.keys().next().value!)
    for (const [id, count] of this.#counts) if (count.missing.delete(name)) this.#look(id, count)
  }

  /** Tells all others what this node has done; what it does after that they learn by the messages it sends. */
  tell(): Promise<void> {
    const { exchange } = this.#border
    return this.#counted(({ ledger, flows }) => {
      const { sent, handled, failed, unhandled, dropped, deadLettered, unknown } = ledger
      const account = { beat: ++this.#beat, sent, handled, failed, unhandled, dropped, deadLettered, unknown, flows }
      for (const crossing of exchange.crossings) crossing.control({ op: 'account', account })
    })
  }

  close(): void {
    this.#cancel()
    for (const id of this.#counts.keys()) this.#settle(id, new LedgerIncomplete(['this node, which has left'], 0))
  }

  /** This node's own ledger, as if what went to others had never been sent and what came from them had been sent here: it adds up. */
  own(local: LedgerReport): LedgerReport {
    const { sent, queued } = local
    return { ...local, sent: sent + this.balance, queued: queued + this.#border.exchange.unsent + this.#elsewhere() }
  }
  /** What this node had from others, less what it sent them. */
  get balance(): number {
    let balance = this.#border.flows.folded
    for (const flow of Object.values(this.#flows())) balance += flow.received - flow.sent
    return balance
  }

  #tellAgain(): void {
    this.#cancel = this.#core.runtime.timer(accountEvery, () => this.#tellAgain())
    const { sent, handled, failed, dropped, deadLettered } = this.#core.ledger
    const now = [sent, handled, failed, dropped, deadLettered].join(' ')
    if (now === this.#told) return
    this.#told = now
    void this.tell()
  }

  #flows(): ReturnType<NodeBorder['flows']['all']> {
    return this.#border.flows.all(this.#border.places.others)
  }

  /** This node alone, at this moment. */
  #now(): Pick<CutPart, 'ledger' | 'flows'> {
    const { exchange, flows } = this.#border
    const local = ledgerOf(this.#core.ledger, this.#core.guardian)
    const ledger = { ...local, sent: local.sent + flows.folded, queued: local.queued + exchange.unsent + this.#elsewhere() }
    return { ledger, flows: this.#flows() }
  }

  /** This node and its threads, if it has any: at once where it has none, not at all where they cannot be counted. `written` is called when this node itself is written down. */
  async #counted(then: (counted: Pick<CutPart, 'ledger' | 'flows'>) => void, written = (): void => {}): Promise<void> {
    const write = (): Pick<CutPart, 'ledger' | 'flows'> => {
      const now = this.#now()
      written()
      return now
    }
    const threads = this.#threads()
    if (threads === undefined) return then(write())
    let flows: CutPart['flows'] = {}
    try {
      const ledger = await threads.ledger(() => {
        const now = write()
        flows = now.flows
        return now.ledger
      })
      then({ ledger, flows })
    } catch (cause) {
      this.#core.logger.warn({ cause }, 'the threads of this node could not be counted')
    }
  }

  #marked(id: number, by: string): void {
    if (id <= (this.#last.get(by) ?? 0)) return
    this.#last.set(by, id)
    const { exchange, places } = this.#border
    const session = readSessionText(by)
    const self = sessionText(places.self)
    const mark = (): void => {
      for (const crossing of exchange.crossings) if (crossing.state !== 'closed') crossing.control({ op: 'cut', id, by })
    }
    const counted = ({ ledger, flows }: Pick<CutPart, 'ledger' | 'flows'>): void => {
      const part: CutPart = { session: self, ledger, flows, ended: Object.fromEntries(this.#ended) }
      if (by === self) this.#partCame(id, session, part)
      else if (session !== undefined) exchange.reach(this.#border.met(session), { op: 'cut.part', id, part })
    }
    void this.#counted(counted, mark)
  }

  #partCame(id: number, from: Session | undefined, part: CutPart): void {
    const count = this.#counts.get(id)
    const session = from === undefined ? '' : sessionText(from)
    // Also of a session that this node has not heard of: others have sent it something.
    if (count === undefined || from === undefined || count.parts.some((one) => one.session === session)) return
    count.missing.delete(session)
    count.parts.push({ ...part, session })
    this.#look(id, count)
  }

  #look(id: number, count: Count): void {
    if (count.missing.size > 0 || count.looking) return
    const strangers = this.#strangers(count)
    if (strangers.length === 0) return this.#settle(id, addUp(count.parts, Object.fromEntries(this.#ended)))
    count.looking = true
    void Promise.all(strangers.map((name) => this.#met(count, name))).then(() => {
      count.looking = false
      this.#look(id, count)
    })
  }

  /** Sessions that some part names, and of which it is not known here whether they live. */
  #strangers({ parts, gone }: Count): readonly string[] {
    const named = new Set(parts.flatMap(({ flows }) => Object.keys(flows)))
    for (const { session } of parts) named.delete(session)
    return [...named].filter((name) => !gone.has(name) && !this.#ended.has(name))
  }
  async #met(count: Count, name: string): Promise<void> {
    const session = readSessionText(name)
    const ended = session === undefined || (await this.#hasEnded(session).catch(() => false))
    if (ended) count.gone.add(name)
    else if (!count.parts.some((one) => one.session === name)) count.missing.add(name)
  }

  #settle(id: number, how: LedgerReport | LedgerIncomplete): void {
    const count = this.#counts.get(id)
    if (count === undefined) return
    this.#counts.delete(id)
    count.cancel()
    if (how instanceof LedgerIncomplete) count.reject(how)
    else count.resolve(how)
  }
}
