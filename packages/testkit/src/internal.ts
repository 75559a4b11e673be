// What sibling folders of this repository need and users do not.

export { amount, anyText, type Argument, flag, oneOf, required, someOf, whole, wholes } from './command-arguments.ts'
export { type Command, commandLine, type Given, misuse } from './command-line.ts'
