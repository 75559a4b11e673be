// Supervised children on threads that hold refs of their siblings.

import { expect, test } from 'vitest'
import { child, receive, same, setup, stopped, supervisor, supervisorClient } from '@troupe/core'
import { type Told, teller } from '../dist-test/teller.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

test.each(['dependents', 'rest-for-one'] as const)(
  'a child on a thread gets the new ref of a sibling that came back as another actor: %s',
  async (strategy) => {
    const s = stage()
    let lives = 0
    const db = child(
      'db',
      setup<Told | { type: 'end' }>(() => {
        const life = ++lives
        return receive((_ctx, m) => {
          if (m.type === 'end') return stopped
          m.replyTo.tell(`life ${life}`)
          return same
        })
      }),
    )
    const front = child('front', ({ refOf }) => teller(refOf(db)), { needs: [db], dispatcher: 'parallel' })
    const tree = s.system.spawn(supervisor({ strategy, children: [db, front] }), { name: 'tree' })
    await s.system.started(tree)
    const client = supervisorClient(tree)
    const ref = await client.refOf(front)
    expect(await ref.ask({ type: 'who' })).toBe('life 1')
    ;(await client.refOf(db)).tell({ type: 'end' })
    await s.until('the sibling is back', () => lives === 2)
    expect(await ref.ask({ type: 'who' })).toBe('life 2')
    // Stopped and started by hand: who holds its ref begins anew as well.
    await client.stopChild(db)
    await client.restartChild(db)
    expect(await ref.ask({ type: 'who' })).toBe('life 3')
    await s.end()
  },
)
