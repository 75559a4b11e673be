// The public API of threads, by hand.

export { type ActorDefinition, defineActor } from './define-actor.ts'
export { NotOnThread, NotTransferable, TaskCancelled, ThreadLost } from './errors.ts'
export type { TaskOptions } from './task-queue.ts'
export { threads, type Threads, type ThreadsOptions } from './threads.ts'
export { transfer } from './transfer.ts'
