// A sentence about what needs somebody's attention, with what it rests on.

/** What can be found; each has a section in the guide. */
export type RuleName =
  | 'wait-cycle'
  | 'handler-pending'
  | 'mailbox-grows'
  | 'starved'
  | 'holds-loop'
  | 'restart-storm'
  | 'uneven-pool'
  | 'dead-letters'
  | 'late-replies'
  | 'stash-unchanged'
  | 'timers-grow'
  | 'population-grows'
  | 'ask-chain'
  | 'drops'
  | 'journal-away'
  | 'readers-held'
  | 'retention-held'
  | 'ledger-off'

/** Something that needs attention. */
export interface Finding {
  /** The same for as long as it lasts: its rule and whom it is about. */
  readonly id: string
  readonly rule: RuleName
  /** `error` (■): it will not get better by itself. `warning` (▲): look at it. */
  readonly severity: 'error' | 'warning'
  /** A word or two. */
  readonly title: string
  /** Whom it is about: a path, a circle of paths, a cause. */
  readonly subject: string
  readonly sentence: string
  /** The numbers that the sentence rests on. */
  readonly evidence: Readonly<Record<string, number | string>>
  /** Milliseconds of the system's clock. */
  readonly since: number
  /** The actors it is about. */
  readonly uids: readonly number[]
  /** Where it is explained, and what to do about it. */
  readonly docs: string
  /** Which view shows it. */
  readonly view: 'actors' | 'waits' | 'failures' | 'flow' | 'runtime' | 'overview'
}

/** What a rule says; whoever asks it adds what all have in common. */
export interface Clue {
  readonly rule: RuleName
  readonly severity: Finding['severity']
  /** Tells it from others of the rule, also where names change. */
  readonly key: string
  readonly uids: readonly number[]
  readonly since: number
  readonly evidence: Finding['evidence']
  /** Whose names and kinds are needed besides those it is about. */
  readonly asks?: readonly number[]
  /** Made once the names are known. Undefined where they show that there is nothing to say. */
  tell(names: Names): Told | undefined
}

/** What a clue says of whom. */
export interface Told {
  readonly subject: string
  readonly sentence: string
  /** Where it is known only now. */
  readonly uids?: readonly number[]
  readonly evidence?: Finding['evidence']
}

/** What actors are called, and what they are; a kind is undefined where nobody knows it. */
export interface Names {
  of(uid: number): string
  kindOf(uid: number): string | undefined
}

const titles: Readonly<Record<RuleName, readonly [title: string, view: Finding['view']]>> = {
  'wait-cycle': ['Deadlock', 'waits'],
  'handler-pending': ['Handler pending', 'actors'],
  'mailbox-grows': ['Mailbox only grows', 'actors'],
  starved: ['Starved', 'actors'],
  'holds-loop': ['Holds the loop', 'runtime'],
  'restart-storm': ['Restart storm', 'failures'],
  'uneven-pool': ['Uneven pool', 'flow'],
  'dead-letters': ['Dead letters', 'failures'],
  'late-replies': ['Late replies', 'failures'],
  'stash-unchanged': ['Stash unchanged', 'actors'],
  'timers-grow': ['Timers only grow', 'actors'],
  'population-grows': ['Population only grows', 'actors'],
  'ask-chain': ['Long chain of asks', 'waits'],
  drops: ['Drops by policy', 'overview'],
  'journal-away': ['Journal away', 'runtime'],
  'readers-held': ['Readers held back', 'runtime'],
  'retention-held': ['Events are not deleted', 'runtime'],
  'ledger-off': ['Ledger does not add up', 'overview'],
}

const guide = 'https://github.com/troupe-actors/troupe/blob/main/docs/guide/observing.md'

/** All rules, by name. */
export const ruleNames = Object.keys(titles) as readonly RuleName[]

export function findingOf(clue: Clue, since: number, names: Names): Finding | undefined {
  const { rule, severity } = clue
  const [title, view] = titles[rule]
  const told = clue.tell(names)
  if (told === undefined) return undefined
  const { subject, sentence, uids = clue.uids, evidence = clue.evidence } = told
  return { id: `${rule}:${subject}`, rule, severity, title, subject, sentence, evidence, since, uids, docs: `${guide}#${rule}`, view }
}
