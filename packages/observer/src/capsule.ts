// The entry `@troupe/observer/capsule`: what a capsule is, and how it is read, for those who replay one on any runtime.

export { type Capsule, type CapsuleEntry, type CapsuleFailure, checkCapsule, readCapsule } from './capsule/capsule.ts'
export { decodeValue } from './capsule/values.ts'
