// Small, fast, well-spread hashes of 32 bits; not for secrets.

/** FNV-1a over UTF-16 units, finished by a mixer, because FNV alone leaves the high bits of short keys alike. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** Spreads every bit of the input over all of the output. */
export function mix(value: number): number {
  let h = value >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/**
 * Rendezvous hashing: each of them bids for the key, the highest bid wins; who leaves takes away only its own bids. Returns the index of
 * the winner; of equal bids the first.
 */
export function highestBidder(key: number, bidders: readonly { readonly hash: number }[]): number {
  let best = 0
  let highest = -1
  for (let i = 0; i < bidders.length; i++) {
    const bid = mix(key ^ bidders[i]!.hash)
    if (bid > highest) {
      highest = bid
      best = i
    }
  }
  return best
}
