// The public API of @troupe/node, by hand.

export * from './io/index.ts'
export * from './threads/index.ts'
