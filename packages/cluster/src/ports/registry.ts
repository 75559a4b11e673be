// Where a cluster keeps who lives and who owns what: keys with values that are written by compare-and-set, and that vanish when they are
// not renewed. Every engine runs the contract in test/contract/registry-contract.ts.

/** Which write of a key this is; a later write of the same key has a greater one. */
export type Revision = number

/** A key as it was read. */
export interface Entry {
  readonly key: string
  readonly value: string
  readonly revision: Revision
}

/** A change that a watch saw: a write, or, without a value, a removal. */
export interface Change {
  readonly key: string
  readonly revision: Revision
  readonly value: string | undefined
}

/** What a watch is told: a change, or that anything may have changed, because changes may have been missed. */
export type Hint = Change | 'anything'

/** How a key is written. */
export interface WriteOptions {
  /** After so many ms without another write the key is removed; never earlier, up to a second later. Left out, it stays. */
  readonly ttl?: number
}

/** A watch on a prefix, from when it was asked for until it is stopped. */
export interface Watch {
  /** Nothing is told after that. */
  stop(): void
}

/**
 * Keys are words of letters, digits, `-` and `_`, joined by dots; under a prefix are those that begin with its words and have more. Operations are refused with
 * `RegistryConflict`, which is certain, or fail with `RegistryUnavailable`, after which a write may or may not have been done.
 */
export interface Registry {
  /** Writes a key that is not there. */
  create(key: string, value: string, options?: WriteOptions): Promise<Revision>
  /** Writes a key that is at this revision. Without a `ttl` it stays for ever, whatever it had before. */
  update(key: string, value: string, expected: Revision, options?: WriteOptions): Promise<Revision>
  /** Removes a key that is at this revision. */
  remove(key: string, expected: Revision): Promise<void>
  /** What every write that was answered before is seen by. */
  read(key: string): Promise<Entry | undefined>
  /** All keys under a prefix, each as `read` has it, in the order of their names. */
  list(prefix: string): Promise<Entry[]>
  /**
   * A short text that is another one whenever a key under the prefix was written or removed since; it may also be another one without that. What it
   * costs does not depend on how many keys there are.
   */
  fingerprint(prefix: string): Promise<string>
  /** Tells of changes under a prefix from some moment on: late, twice or not at all. `list` is the truth. */
  watch(prefix: string, onHint: (hint: Hint) => void): Watch
}
