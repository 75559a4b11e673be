// What sibling folders of this repository need and users do not.

export { amount, type Argument, flag, oneOf, required, someOf, text, whole } from './command-arguments.ts'
export { type Command, commandLine, type Given, misuse } from './command-line.ts'
