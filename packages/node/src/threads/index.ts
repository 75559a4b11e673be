// The public API of threads, by hand.

export { NotOnThread, NotTransferable, TaskCancelled, ThreadLost } from './errors.ts'
