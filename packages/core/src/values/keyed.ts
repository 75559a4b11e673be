// Messages of sibling packages that know which entity they are for: nobody's `keyOf` is asked about them.

/** A message with the key of its entity. */
export class Keyed {
  declare readonly key: string
  constructor(key: string) {
    this.key = key
  }
}
