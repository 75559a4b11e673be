// What all processes of a chaos run know.

export const shards = 16
export const ids = Array.from({ length: 24 }, (_, i) => `id-${i}`)
/** The kind that clients ask while all nodes are restarted one after the other. */
export const echoShards = 1_024
export const echoIds = Array.from({ length: 48 }, (_, i) => `echo-${i}`)
/** The id of an actor in the journal. */
export const kept = (id) => `account/${id}`
