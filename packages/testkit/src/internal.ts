// What sibling folders of this repository need and users do not.

export { amount, anyText, type Argument, flag, oneOf, required, someOf, whole, wholes } from './command-arguments.ts'
export { type Command, commandLine, type Given, misuse } from './command-line.ts'

// For those who simulate several systems in one run.
export type { LibraryScenario } from './library/scenario.ts'
export { SimPlace } from './sim/sim-place.ts'
export { simulate } from './sim/simulate.ts'
export { Simulation } from './sim/simulation.ts'
