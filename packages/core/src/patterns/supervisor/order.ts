// The order in which children start: as declared, but never before what they need. Refuses what has no order.

import { InvalidChildren } from './errors.ts'

interface Named {
  readonly name: string | undefined
  readonly needs: readonly string[]
}

/** Sorted so that each child comes after those it needs; otherwise as declared. Throws `InvalidChildren`. */
export function orderByNeeds<T extends Named>(children: readonly T[], where: string): T[] {
  const byName = new Map<string, T>()
  for (const c of children) {
    if (c.name === undefined)
      throw new InvalidChildren(`${where} has a child without a name. Instances of a template belong to a simple-one-for-one supervisor.`)
    if (byName.has(c.name)) throw new InvalidChildren(`${where} has two children named "${c.name}". Give each its own name.`)
    byName.set(c.name, c)
  }
  for (const c of children)
    for (const need of c.needs)
      if (!byName.has(need))
        throw new InvalidChildren(`${where}: "${c.name}" needs "${need}", which is not one of its siblings (${[...byName.keys()].join(', ')}).`)
  const ordered = new Set<T>()
  for (const c of children) visit(c, byName, ordered, where)
  return [...ordered]
}

/** Depth first with a stack of its own: a chain of needs may be long. */
function visit<T extends Named>(from: T, byName: ReadonlyMap<string, T>, ordered: Set<T>, where: string): void {
  const path: { readonly child: T; next: number }[] = [{ child: from, next: 0 }]
  const onPath = new Set<T>([from])
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const need = ordered.has(top.child) ? undefined : top.child.needs[top.next++]
    if (need === undefined) {
      ordered.add(top.child)
      onPath.delete(top.child)
      path.pop()
      continue
    }
    const needed = byName.get(need)!
    if (onPath.has(needed)) {
      const names = path.map((p) => p.child.name)
      const cycle = [...names.slice(names.indexOf(needed.name)), needed.name].join(' → ')
      throw new InvalidChildren(`${where}: the needs form a cycle, ${cycle}. One of them must do without.`)
    }
    if (ordered.has(needed)) continue
    onPath.add(needed)
    path.push({ child: needed, next: 0 })
  }
}
