// Journals of a chaos run: one that takes its time before it writes, so that a node is often stopped with a write in its hands, and tells what it
// has stored; and, as a control, one without a fence, which takes what anybody writes as a store
// that knows no owners would: at the end of what is there.

/** A write waits for up to so many ms. */
const slowness = 40

export function watched(source, onStored) {
  return {
    ...source,
    open: async (environment) => {
      const journal = await source.open(environment)
      const append = journal.append.bind(journal)
      journal.append = async (group) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * slowness))
        const outcomes = await append(group)
        for (const [i, write] of group.entries()) if (outcomes[i].is === 'stored' && write.events !== undefined) onStored(write)
        return outcomes
      }
      return journal
    },
  }
}

export function unfenced(source) {
  return {
    ...source,
    open: async (environment) => {
      const journal = await source.open(environment)
      const scope = `unfenced-${process.pid}`
      await journal.raise(scope, 1)
      journal.raise = () => Promise.resolve()
      journal.epoch = () => Promise.resolve(0)
      const append = journal.append.bind(journal)
      const alone = async (write) => {
        for (;;) {
          const [head] = await journal.heads([write.id])
          const [outcome] = await append([{ ...write, scope, epoch: 1, ...(write.first === undefined ? {} : { first: head.seq + 1 }) }])
          if (outcome.is !== 'conflict') return outcome
        }
      }
      journal.append = (group) => Promise.all(group.map(alone))
      return journal
    },
  }
}
