// The entry `@troupe/observer/capsule`: what a capsule is, how it is read, for those who replay one on any runtime, and what
// records one, for threads.

export { type Capsule, type CapsuleEntry, type CapsuleFailure, checkCapsule, codeUnknown, readCapsule } from './capsule/capsule.ts'
export { capsuleRecorder, type CapsuleRecorderOptions } from './capsule/recorder.ts'
export { decodeValue } from './capsule/values.ts'
