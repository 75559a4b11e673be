// A journal whose appends wait until a test says how they end.

import { type Journal, type JournalSource, memory, type Outcome, type Write } from '@troupe/persistence'

interface Waiting {
  readonly group: readonly Write[]
  end(how: 'store' | 'fail' | 'unknown' | 'unknown-stored' | 'fenced' | 'conflict'): Promise<void>
}

export interface HeldJournal extends JournalSource {
  /** Groups that wait, oldest first. */
  readonly waiting: Waiting[]
  /** Ends all that wait, and all that follows from it, well. */
  through: boolean
  /** What was asked of it, in order. */
  readonly calls: string[]
  readonly inner: ReturnType<typeof memory>
}

export function heldJournal(): HeldJournal {
  const inner = memory()
  const waiting: Waiting[] = []
  const calls: string[] = []
  const source: HeldJournal = {
    name: 'held',
    waiting,
    calls,
    inner,
    through: false,
    async open(environment) {
      const journal = await inner.open(environment)
      return new Proxy(journal, {
        get(target, name: keyof Journal) {
          if (name === 'append')
            return async (group: readonly Write[]): Promise<readonly Outcome[]> => {
              calls.push(`append ${group.map((write) => `${write.id}@${write.epoch}`).join(' ')}`)
              if (source.through) return target.append(group)
              return new Promise((resolve) => {
                waiting.push({
                  group,
                  async end(how) {
                    waiting.splice(waiting.indexOf(this), 1)
                    const cause = new Error(how)
                    if (how === 'store') resolve(await target.append(group))
                    else if (how === 'fail') resolve(group.map(() => ({ is: 'failed', cause })))
                    else if (how === 'fenced' || how === 'conflict') resolve(group.map(() => ({ is: how })))
                    else {
                      if (how === 'unknown-stored') await target.append(group)
                      resolve(group.map(() => ({ is: 'unknown', cause })))
                    }
                  },
                })
              })
            }
          const value = target[name] as unknown
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => {
            calls.push(name === 'raise' ? `raise ${String(args[1])}` : name)
            return (value as (...given: unknown[]) => unknown).apply(target, args)
          }
        },
      })
    },
  }
  return source
}
