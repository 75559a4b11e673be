// The command as a function, for programs that have one of their own.

export { runCommand, type Surroundings } from './program.ts'
export type { Keys } from './commands/top.ts'
export type { Screen } from './style.ts'
