// Where the keys of subjects are in their file: a hash of the subject, and a number. A million subjects take about 40 MB, all of it outside of the heap.

/** How many numbers a hash is: 128 bits, so that two subjects are never taken for each other. */
const words = 4

/** A subject, as the index knows it. */
export type SubjectHash = Uint32Array

export class SubjectKeyIndex {
  #hashes = new Uint32Array(words * 64)
  /** 0 where there is nothing. */
  #values = new Float64Array(64)
  size = 0

  get(hash: SubjectHash): number | undefined {
    return this.#values[this.#slot(hash)] || undefined
  }
  /** The value is above 0. */
  set(hash: SubjectHash, value: number): void {
    let slot = this.#slot(hash)
    if (this.#values[slot] === 0) {
      if (++this.size * 3 > this.#values.length * 2) {
        this.#grow()
        slot = this.#slot(hash)
      }
      this.#hashes.set(hash, slot * words)
    }
    this.#values[slot] = value
  }
  clear(): void {
    this.#hashes = new Uint32Array(words * 64)
    this.#values = new Float64Array(64)
    this.size = 0
  }

  /** Where it is, or would be. */
  #slot(hash: SubjectHash): number {
    const [hashes, values] = [this.#hashes, this.#values]
    for (let slot = hash[0]! % values.length; ; slot = (slot + 1) % values.length) {
      const at = slot * words
      if (values[slot] === 0) return slot
      if (hashes[at] === hash[0] && hashes[at + 1] === hash[1] && hashes[at + 2] === hash[2] && hashes[at + 3] === hash[3]) return slot
    }
  }
  #grow(): void {
    const [hashes, values] = [this.#hashes, this.#values]
    this.#hashes = new Uint32Array(hashes.length * 2)
    this.#values = new Float64Array(values.length * 2)
    for (const [i, value] of values.entries()) {
      if (value === 0) continue
      const hash = hashes.subarray(i * words, (i + 1) * words)
      const slot = this.#slot(hash)
      this.#hashes.set(hash, slot * words)
      this.#values[slot] = value
    }
  }
}
