// Which versions of the wire a node speaks: its own and the one before, so that a cluster is upgraded node by node.

/** From the oldest to the newest version that a node reads and writes. */
export interface Versions {
  readonly oldest: number
  readonly newest: number
}

/** What this release speaks. */
export const ownVersions: Versions = { oldest: 1, newest: 1 }

/** The version that two nodes speak with each other; undefined where they have none in common. */
export function commonVersion(a: Versions, b: Versions): number | undefined {
  const newest = Math.min(a.newest, b.newest)
  return newest >= Math.max(a.oldest, b.oldest) ? newest : undefined
}

export function versionsText({ oldest, newest }: Versions): string {
  return oldest === newest ? String(newest) : `${oldest} to ${newest}`
}

export function isVersions(value: unknown): value is Versions {
  const { oldest, newest } = (value ?? {}) as Partial<Versions>
  return Number.isSafeInteger(oldest) && Number.isSafeInteger(newest) && oldest! >= 1 && newest! >= oldest!
}
