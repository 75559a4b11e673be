// One tree of all threads: where an actor runs elsewhere, what stands for it here is completed by what its thread says.

import type { ActorSnapshot } from 'troupe'

export function mergeSnapshots(root: ActorSnapshot, hosted: ReadonlyMap<number, ActorSnapshot & { readonly thread: number }>): ActorSnapshot {
  const there = hosted.get(root.uid)
  const children = there === undefined ? root.children : [...root.children, ...there.children]
  const merged = { ...root, children: children.map((child) => mergeSnapshots(child, hosted)) }
  if (there === undefined) return merged
  return { ...merged, queued: root.queued + there.queued, stashed: there.stashed, pending: there.pending ?? root.pending, thread: there.thread }
}
