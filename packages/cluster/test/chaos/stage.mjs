// What all processes of a chaos run know.

export const shards = 16
export const ids = Array.from({ length: 24 }, (_, i) => `id-${i}`)
/** The id of an actor in the journal. */
export const kept = (id) => `account/${id}`
