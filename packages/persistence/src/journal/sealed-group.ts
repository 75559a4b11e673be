// A group in which somebody's data is sealed: the journal is asked, right before it is stored, whether the keys are still there. Another process
// may have erased one since it was read, and what was acknowledged then could never be read again. Groups without subjects do not come here.

import { JournalDamaged, SubjectErased } from '../values/errors.ts'
import type { Outcome, Write } from '../values/stored.ts'
import type { Journal } from './port.ts'

/** Whose data a group has; undefined for most. */
export function subjectsIn(group: readonly Write[]): Set<string> | undefined {
  let all: Set<string> | undefined
  for (const write of group) for (const subject of subjectsOf(write)) (all ??= new Set()).add(subject)
  return all
}
const nobody: readonly string[] = []
/** Whose data a write has. */
export function subjectsOf(write: Write): readonly string[] {
  if (write.write === 'run') return write.subjects ?? nobody
  return write.subject === undefined ? nobody : [write.subject]
}

/** Stores what can be read afterwards, and refuses the rest. */
export async function appendSealed(
  journal: Journal,
  name: string,
  group: readonly Write[],
  subjects: ReadonlySet<string>,
  append: (writes: readonly Write[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const refused = new Map<string, Outcome>()
  try {
    for (const { subject, is } of await journal.keyless([...subjects])) {
      const cause =
        is === 'erased'
          ? new SubjectErased(subject)
          : new JournalDamaged(name, `the key of ${JSON.stringify(subject)}`, 'it is missing, and was not erased')
      refused.set(subject, { is: 'failed', cause, unfit: true })
    }
  } catch (cause) {
    // Surely not stored; all of it, so that a journal that is waited for is given the same group again.
    return group.map(() => ({ is: 'failed', cause }))
  }
  if (refused.size === 0) return append(group)
  const outcomes: (Outcome | undefined)[] = group.map((write) => {
    for (const subject of subjectsOf(write)) if (refused.has(subject)) return refused.get(subject)
    return undefined
  })
  const left = group.filter((_, i) => outcomes[i] === undefined)
  const stored = left.length === 0 ? left : await append(left)
  let next = 0
  return outcomes.map((outcome) => outcome ?? (stored[next++] as Outcome))
}
