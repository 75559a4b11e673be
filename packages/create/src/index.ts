// The public API, by hand.

export { createProject, type CreateOptions, type Created, Refused } from './project.ts'
export { type Asker, begin, type Wishes } from './beginning.ts'
export { askInTerminal } from './asking.ts'
