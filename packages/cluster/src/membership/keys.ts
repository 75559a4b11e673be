// Where membership is in the registry, and for how long.

/** The lease of a node: gone when it is not renewed. */
export function memberKey(node: string): string {
  return `member.${node}`
}

/** The latest session of a node, and whether its end was recorded. */
export function sessionKey(node: string): string {
  return `session.${node}`
}

/** The node that a key of either kind is about. */
export function nodeIn(key: string): string {
  return key.slice(key.indexOf('.') + 1)
}

/** How long the end of a session is remembered. Who finds none takes it for ended, and its number is in the past by then. */
export const endRemembered = 86_400_000
