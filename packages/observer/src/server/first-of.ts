// The first few of many, in order, without putting the rest in order. Pure.

/** The first `count` of them; as long as only few are wanted of many it is about one comparison for each. */
export function firstOf(all: readonly number[], count: number, before: (a: number, b: number) => number): number[] {
  if (count <= 0) return []
  // Where most are wanted there is nothing to spare.
  if (count * 4 >= all.length) return all.toSorted(before).slice(0, count)
  let kept: number[] = []
  let last: number | undefined
  for (const one of all) {
    if (last !== undefined && before(one, last) >= 0) continue
    kept.push(one)
    if (kept.length < count * 2) continue
    kept = kept.sort(before).slice(0, count)
    last = kept[count - 1]
  }
  return kept.sort(before).slice(0, count)
}
