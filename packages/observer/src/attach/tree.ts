// The tree as somebody reads it: the first of many siblings by trouble, the others folded into one line.

import type { ActorSnapshot } from '@troupe/core'

/** One actor of the tree, with those below it, as far as they are shown. */
export interface TreeNode {
  readonly path: string
  readonly name: string
  /** What it says of itself, or the key by which its parent knows it; undefined where there is neither. */
  readonly label: string | undefined
  readonly phase: string
  readonly queued: number
  readonly stashed: number
  readonly restarts: number
  readonly pending: { readonly what: string; readonly ms: number } | undefined
  readonly thread: number | undefined
  readonly children: readonly TreeNode[]
  /** Those that are not shown, in sum. */
  readonly folded: { readonly actors: number; readonly queued: number; readonly restarts: number } | undefined
}

interface Sum {
  actors: number
  queued: number
  restarts: number
}

/** Of a snapshot of any size; siblings beyond `most`, and what is deeper than `depth`, are counted. */
export function treeOf(root: ActorSnapshot, depth: number, most: number, labels: ReadonlyMap<number, string>): TreeNode {
  const ranked = rankedBelow(root)
  const shown = depth > 0 ? ranked.slice(0, most) : []
  const left = ranked.slice(shown.length)
  const sum = left.reduce<Sum>(add, { actors: 0, queued: 0, restarts: 0 })
  return {
    path: root.path,
    name: root.name,
    label: labels.get(root.uid),
    phase: root.phase,
    queued: root.queued,
    stashed: root.stashed,
    restarts: root.incarnation,
    pending: root.pending,
    thread: root.thread,
    children: shown.map((child) => treeOf(child, depth - 1, most, labels)),
    folded: left.length === 0 ? undefined : sum,
  }
}

/** Those that such a tree shows. */
export function shownIn(root: ActorSnapshot, depth: number, most: number): number[] {
  if (depth <= 0) return [root.uid]
  return [
    root.uid,
    ...rankedBelow(root)
      .slice(0, most)
      .flatMap((child) => shownIn(child, depth - 1, most)),
  ]
}

function rankedBelow({ children }: ActorSnapshot): readonly ActorSnapshot[] {
  return children.toSorted((a, b) => trouble(b) - trouble(a))
}

function trouble({ phase, queued, pending, stashed, incarnation }: ActorSnapshot): number {
  return (phase === 'running' ? 0 : 1e9) + queued + stashed + (pending?.ms ?? 0) / 100 + incarnation
}

/** With a stack of its own: a tree may be deep. */
function add(sum: Sum, root: ActorSnapshot): Sum {
  const stack = [root]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    sum.actors++
    sum.queued += at.queued
    sum.restarts += at.incarnation
    stack.push(...at.children)
  }
  return sum
}
