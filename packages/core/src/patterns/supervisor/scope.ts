// Who restarts together: what each strategy makes of the children of a supervisor when one of them is to begin anew.

import type { Member, Tree } from './tree.ts'

/** Who is restarted with a child, besides itself: nobody, everybody, those started later, those that need it. */
export type Strategy = 'one-for-one' | 'all-for-one' | 'rest-for-one' | 'dependents' | 'simple-one-for-one'

/** A child and those that share its restarts, in start order. */
export function scopeOf(tree: Tree, member: Member): Member[] {
  switch (tree.strategy) {
    case 'one-for-one':
    case 'simple-one-for-one':
      return [member]
    case 'all-for-one':
      return [...tree.members.values()]
    case 'rest-for-one': {
      const all = [...tree.members.values()]
      return all.slice(all.indexOf(member))
    }
    case 'dependents': {
      // Start order puts each child after those it needs: one pass finds them all.
      const touched = new Set<string | undefined>([member.facts.name])
      return [...tree.members.values()].filter((m) => {
        if (m === member) return true
        if (!m.facts.needs.some((need) => touched.has(need))) return false
        touched.add(m.facts.name)
        return true
      })
    }
  }
}
