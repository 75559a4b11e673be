// What the clients of all processes called and were answered, as the checker reads it.

export class History {
  /** Completed operations. */
  done = 0
  localReads = 0
  /** Sessions that ended without having left. */
  ended = 0
  #calls = new Map()
  #lastDone = new Map()

  /** One line of a node. */
  heard([word, ...rest]) {
    if (word === 'call') {
      const [call, client, id, op, value, before, at] = rest
      this.#calls.set(call, { client, id, op, value, before, call: at })
    } else if (word === 'done') {
      const [call, answer, at] = rest
      const operation = this.#calls.get(call)
      Object.assign(operation, { answer, return: at })
      this.done++
      if (operation.client % 2 === 1) this.localReads++
      this.#lastDone.set(operation.id, performance.now())
    } else if (word === 'over' && rest[1] !== 'left') this.ended++
  }

  /** Whether every register has answered since. */
  allSince(time, ids) {
    return ids.every((id) => (this.#lastDone.get(id) ?? 0) > time)
  }

  /** One operation per line. What was never answered may have been done at any time; a read of that kind says nothing. */
  lines() {
    const end = Math.max(...Array.from(this.#calls.values(), (operation) => operation.return ?? operation.call)) + 1
    const lines = []
    for (const operation of this.#calls.values()) {
      const known = operation.return !== undefined
      if (!known && operation.op === 'read') continue
      lines.push(JSON.stringify({ answer: 0, return: end, ...operation, known }))
    }
    return lines
  }
}
