// The public API of threads, by hand.

export { type ActorDefinition, defineActor, defineTask, NotOnThread, NotTransferable, transfer } from '@troupe/border'
export { TaskCancelled, ThreadLost } from './errors.ts'
export type { TaskOptions } from './pool/task-queue.ts'
export { threads, threadsOf, type Threads, type ThreadsOptions } from './pool/threads.ts'
