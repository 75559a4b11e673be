// A program that imports what only a worker entry may.

const said = await import('@troupe/node/worker').then(
  () => 'nothing',
  (cause: Error) => cause.message,
)
console.log(said)
