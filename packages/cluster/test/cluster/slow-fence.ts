// A journal that is slow to say that a fence is up: what a shard waits for while it starts.

import type { JournalSource } from '@troupe/persistence'

/** The fence of a shard is raised at once, and the node hears of it when it is let. */
export function slowFence(source: JournalSource, until: Promise<void>): JournalSource {
  return {
    name: source.name,
    open: async (environment) => {
      const journal = await source.open(environment)
      const raise = journal.raise.bind(journal)
      journal.raise = async (scope, epoch) => {
        await raise(scope, epoch)
        if (scope.startsWith('shard/')) await until
      }
      return journal
    },
  }
}
