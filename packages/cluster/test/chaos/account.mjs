// What the nodes of a chaos run said, and what the journal has afterwards: kept apart from the code that is tested, and compared by the promises.

import { ids, kept } from './stage.mjs'

export class Account {
  acknowledged = 0
  refused = 0
  stored = 0
  moved = 0
  ledgers = 0
  unknown = 0
  /** Answers of the kind that clients ask. */
  echoed = 0
  /** What clients got to see instead of an answer: when they had asked, whom, and the code of the error. */
  failures = []
  /** What is wrong, in words. */
  wrong = []
  /** The greatest memory of a node, in MiB. */
  memory = 0
  /** Sessions that ended without having left, by name. */
  ended = new Map()
  /** Messages that were dead letters because too much waited, each by whom it was to reach, who sent it, and its number. */
  behind = new Set()
  /** What a sink did not get before it got a later one. */
  #missing = []
  #acks = new Map(ids.map((id) => [id, []]))
  /** By id, the times of acknowledgements. */
  #times = new Map(ids.map((id) => [id, []]))
  /** By id and number, the epoch in which it was stored. */
  #epochs = new Map(ids.map((id) => [kept(id), new Map()]))
  #writers = new Map()
  /** Who watches whom, and has not heard of its end. */
  #watches = new Map()

  /** One line of a node. */
  heard([word, ...rest], process) {
    switch (word) {
      case 'acknowledged':
        this.acknowledged++
        this.#acks.get(rest[0]).push(`${rest[1]} ${rest[2]}`)
        this.#times.get(rest[0]).push(performance.now())
        return
      case 'refused':
        this.refused++
        return
      case 'failed':
        this.failures.push({ asked: performance.now() - rest[2], id: rest[0], code: rest[1] })
        return
      case 'echoed':
        this.echoed += rest[0]
        return
      case 'stored':
        return this.#store(rest, process)
      case 'wrong':
        this.wrong.push(rest[0])
        return
      case 'missing':
        this.#missing.push(rest)
        return
      case 'behind':
        this.behind.add(rest.join(' '))
        return
      case 'memory':
        this.memory = Math.max(this.memory, rest[0])
        return
      case 'ledger':
        this.ledgers++
        this.unknown = Math.max(this.unknown, rest[0])
        return
      case 'over':
        if (rest[1] !== 'left') this.ended.set(rest[0], rest[1])
        return
      case 'watches':
        this.#watches.set(`${rest[0]} ${rest[1]}`, process)
        return
      case 'terminated':
        this.#watches.delete(`${rest[0]} ${rest[1]}`)
    }
  }

  #store([scope, epoch, id, first, count], process) {
    this.stored += count
    const writer = this.#writers.get(`${scope} ${epoch}`) ?? process
    if (writer !== process) this.wrong.push(`K7: two processes have written to ${scope} in epoch ${epoch}`)
    this.#writers.set(`${scope} ${epoch}`, process)
    for (let seq = first; seq < first + count; seq++) this.#epochs.get(id)?.set(seq, epoch)
  }

  /** Watches of a session by processes that live, of which nothing was heard. */
  deaf(session, lives) {
    return [...this.#watches].filter(([pair, process]) => pair.endsWith(` ${session}`) && lives(process)).map(([pair]) => pair)
  }

  /** The longest time in which an id acknowledged nothing, of what began or went on between these times; with its id. */
  gap(from, to) {
    let longest = { ms: 0, id: '' }
    for (const [id, times] of this.#times) {
      const inside = [...times.filter((at) => at >= from - 1_000 && at <= to), to]
      let before = times.findLast((at) => at < from) ?? from
      for (const at of inside) {
        if (at > from && at - Math.max(before, from) > longest.ms) longest = { ms: at - Math.max(before, from), id }
        before = at
      }
    }
    return longest
  }

  /** Whether every id has acknowledged something since. */
  allSince(time) {
    return [...this.#times.values()].every((times) => (times.at(-1) ?? 0) > time)
  }

  /** What a sink did not get was a dead letter of whoever sent it, or is lost. */
  #account() {
    for (const [to, from, before, n] of this.#missing)
      for (let lost = before + 1; lost < n; lost++)
        if (!this.behind.has(`${to} ${from} ${lost}`)) {
          this.wrong.push(`K1: the sink of ${to} got ${n} of ${from} after ${before}, and nothing was said of ${lost}`)
          break
        }
  }

  /** Reads the journal back. */
  async compare(journal) {
    this.#account()
    const found = new Map()
    for await (const part of journal.replay(
      ids.map((id) => ({ id: kept(id), after: 0 })),
      500,
    )) {
      if ('damage' in part) return void this.wrong.push(part.damage.message)
      const events = found.get(part.id) ?? []
      found.set(part.id, events)
      events.push(...part.events.map(({ data }) => JSON.parse(data)))
    }
    for (const id of ids) this.#compareOne(id, found.get(kept(id)) ?? [])
  }

  #compareOne(id, events) {
    const seen = new Set()
    const last = new Map()
    const over = new Set()
    let by
    let epoch = 0
    for (const [i, event] of events.entries()) {
      const key = `${event.from} ${event.n}`
      if (seen.has(key)) this.wrong.push(`K2: ${id} has handled ${key} twice`)
      seen.add(key)
      if (event.n <= (last.get(event.from) ?? 0)) this.wrong.push(`K1: ${id} handled ${key} after ${last.get(event.from)}`)
      last.set(event.from, event.n)
      if (event.by !== by) {
        if (over.has(event.by)) this.wrong.push(`K7: ${event.by} wrote to ${id} again, after ${String(by)} had`)
        if (by !== undefined) {
          over.add(by)
          this.moved++
        }
        by = event.by
      }
      const at = this.#epochs.get(kept(id)).get(i + 1)
      if (at !== undefined && at < epoch) this.wrong.push(`K7: ${id} has number ${i + 1} of epoch ${at} after one of ${epoch}`)
      epoch = Math.max(epoch, at ?? 0)
    }
    for (const key of this.#acks.get(id))
      if (!seen.has(key)) this.wrong.push(`LOST: ${id} acknowledged ${String(key)}, and the journal does not have it`)
  }
}
