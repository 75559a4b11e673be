// What all processes of a run know.

export const shards = 16
export const ids = Array.from({ length: 12 }, (_, i) => `register-${i}`)
