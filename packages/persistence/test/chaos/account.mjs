// What was acknowledged, and what is there: one line per id, with the epoch in which each number was acknowledged.

import { dataOf, ids } from './store.mjs'

export class Account {
  told = 0
  recovered = 0
  lost = 0
  rounds = 0
  /** By id, the epoch of every acknowledged number; index 0 is number 1. */
  #epochs = new Map(ids.map((id) => [id, []]))
  /** By id, how far it was compared. */
  #compared = new Map(ids.map((id) => [id, 0]))

  acknowledged(group, epoch) {
    for (const [id, first, count] of group)
      for (let seq = first; seq < first + count; seq++) {
        this.#epochs.get(id)[seq - 1] = epoch
        this.told++
      }
  }

  /** Counts what is there and what is lost; says what else is wrong. Reads everything at the last round, what is new at the others. */
  async compare(journal, all) {
    this.rounds++
    const last = new Map((await journal.heads(ids)).map(({ id, seq }) => [id, seq]))
    const from = ids.map((id) => ({ id, after: all ? 0 : this.#compared.get(id) }))
    if (all) this.recovered = 0
    const at = new Map(from.map(({ id, after }) => [id, after]))
    for await (const part of journal.replay(from, 500)) {
      if ('damage' in part) return part.damage.message
      if (part.first !== at.get(part.id) + 1) return `${part.id} goes on with ${part.first} after ${at.get(part.id)}`
      for (const [i, { data }] of part.events.entries()) {
        const seq = part.first + i
        const epoch = this.#epochs.get(part.id)[seq - 1] ?? JSON.parse(data).epoch
        if (data !== dataOf(part.id, seq, epoch)) return `${part.id}#${seq} is not what was written: ${data}`
        // What was stored without an answer counts as what it is: there.
        this.#epochs.get(part.id)[seq - 1] ??= epoch
      }
      this.recovered += part.events.length
      at.set(part.id, part.first + part.events.length - 1)
    }
    for (const id of ids) {
      if (at.get(id) !== last.get(id)) return `${id} ends at ${at.get(id)}, and its head says ${last.get(id)}`
      this.#compared.set(id, at.get(id))
      this.lost += Math.max(0, this.#epochs.get(id).length - last.get(id))
    }
    if (!all) return undefined
    const { damages } = await journal.verify()
    if (damages.length > 0) return `verify found ${damages.length} damages, the first: ${JSON.stringify(damages[0])}`
    const seen = new Map()
    for await (const batch of journal.events({ kind: 'account', batch: 1000, once: true }))
      for (const { id, seq } of batch) {
        if (seq !== (seen.get(id) ?? 0) + 1) return `a reader of all events is given ${id}#${seq} after ${seen.get(id)}`
        seen.set(id, seq)
      }
    for (const [id, seq] of last) if ((seen.get(id) ?? 0) !== seq) return `a reader of all events ends at ${id}#${seen.get(id)} of ${seq}`
    return undefined
  }
}
