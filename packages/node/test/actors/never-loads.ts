// A module that never comes to its end, for the tests of threads: nobody may wait for the actors that it would define.

await new Promise<void>(() => {})

/** Nobody gets this far. */
export const never = undefined
