// The entry `@troupe/observer/findings`: what needs no host of its own, so that tests on any runtime may use it.

export { findings, type FindingsOptions, isMuted } from './findings/finder.ts'
export { type Finding, type RuleName, ruleNames } from './findings/finding.ts'
export type { Frame, ProcessorTime, SeenEvent } from './findings/frame.ts'
export { type Round, Rounds } from './findings/rounds.ts'
export type { SeenJournal } from './survey/journals.ts'
