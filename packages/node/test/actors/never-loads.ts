// A module that never comes to its end, for the tests of threads: nobody may wait for the actors that it would define.

await new Promise<void>(() => {})

export {}
