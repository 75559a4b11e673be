// What sibling folders of this repository need and users do not.

export { amount, anyText, flag, oneOf, required, someOf, whole, wholes } from './command-arguments.ts'
export { commandLine, misuse } from './command-line.ts'

// For those who simulate several systems in one run.
export type { LibraryScenario } from './library/scenario.ts'
export { SimPlace } from './sim/sim-place.ts'
export { simulate } from './sim/simulate.ts'
export { Simulation } from './sim/simulation.ts'
