// One actor that this thread has nothing of, or only what stands for it: its own thread is asked, through the nearest above it that is known here.

import type { ActorSnapshot, ActorSystem, AnyRef } from '@troupe/core'

/** Milliseconds that threads have to say what they know; one that hangs says nothing. */
const patience = 1000

/** With what is below it; undefined where there is none, or its thread does not answer in time. */
export async function snapshotAt(system: ActorSystem, path: string): Promise<ActorSnapshot | undefined> {
  const top = nearestAbove(system, path)
  if (top === undefined) return undefined
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), patience)))
  const found = await Promise.race([system.inspect(top), silence])
  clearTimeout(timer)
  return found === undefined ? undefined : below(found, path)
}

/** The actor of that path that is known here, or the last above it that is. */
function nearestAbove(system: ActorSystem, path: string): AnyRef | undefined {
  for (let at = path; at.lastIndexOf('/') > 0; at = at.slice(0, at.lastIndexOf('/'))) {
    const ref = at === '/user' ? undefined : system.find(at)
    if (ref !== undefined) return ref
  }
  return undefined
}

function below(root: ActorSnapshot, path: string): ActorSnapshot | undefined {
  let at: ActorSnapshot | undefined = root
  while (at !== undefined && at.path !== path) at = at.children.find((child) => path === child.path || path.startsWith(`${child.path}/`))
  return at
}
