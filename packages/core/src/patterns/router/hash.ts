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
