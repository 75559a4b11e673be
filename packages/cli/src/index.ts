// The command as a function, for programs that have one of their own.

export { runCommand } from './program.ts'
export type { Interrupts, SignalName } from './running/interrupts.ts'
export type { Surroundings } from './surroundings.ts'
export type { Keys } from './commands/top.ts'
export type { Screen } from './style.ts'
