// Lets a system run for a while on virtual time, looked at as somebody would who watches over it, and fails if there is something to say.

import { ActorSystem, InvalidOption } from '@troupe/core'
import { checkFinite, checkList, readOptions, type Table } from '@troupe/core/internal'
import { type Finding, isMuted, Rounds } from '@troupe/observer/findings'
import type { TestKit } from './test-kit.ts'

/** How long is looked, and what is of no interest. */
export interface NoFindingsOptions {
  /** Milliseconds of virtual time; 60,000 if left out. */
  readonly for?: number | undefined
  /** Rules, or findings by their ids, that are meant to be so. */
  readonly mute?: readonly string[] | undefined
}

const table: Table<NoFindingsOptions> = {
  for: [checkFinite, 'above'],
  mute: (option, value) => checkList(option, value, (one) => typeof one === 'string', 'texts'),
}

const second = 1000

/**
 * Advances time by a minute, or as long as is said, looks at the system once a second, and fails if anything is found that would need
 * somebody's attention: a deadlock, a mailbox that only grows, a restart storm, and so on, as the guide lists them.
 *
 * Guarantees: nothing of it is in what it sees. Fails: with an `Error` that has every sentence in it, and the findings as its `findings`.
 *
 * @example
 * const kit = createTestKit()
 * startShop(kit.system)
 * await expectNoFindings(kit, { for: 120_000, mute: ['late-replies'] })
 */
export async function expectNoFindings(kit: TestKit, options: NoFindingsOptions = {}): Promise<void> {
  const { for: ms = 60 * second, mute = [] } = readOptions('expectNoFindings', options, table)
  checkKit(kit)
  const muted = new Set(mute)
  const found = new Map<string, Finding>()
  const rounds = new Rounds(kit.system)
  rounds.begin()
  try {
    for (let left = ms; ; left -= second) {
      for (const finding of (await rounds.round()).findings) if (!isMuted(finding, muted)) found.set(finding.id, finding)
      if (left <= 0) break
      await kit.advance(Math.min(second, left))
    }
  } finally {
    rounds.end()
    await kit.settle()
  }
  if (found.size === 0) return
  const lines = [...found.values()].map(({ title, subject, sentence, rule }) => `  ${title} ${subject}: ${sentence} (${rule})`)
  throw Object.assign(new Error(`${found.size} findings:\n${lines.join('\n')}`), { findings: [...found.values()] })
}

function checkKit(kit: unknown): void {
  try {
    const given = kit as TestKit
    if (given.system instanceof ActorSystem && typeof given.advance === 'function' && typeof given.settle === 'function') return
  } catch {}
  throw new InvalidOption('kit', kit, 'use what createTestKit gives')
}
