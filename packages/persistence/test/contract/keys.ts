// Keys of subjects, of which the first holds and an erased one never comes back.

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Stage } from './stage.ts'

export function keysContract(stage: Stage): void {
  test('the first key of a subject holds, and once erased there is none for ever', async () => {
    const { journal, open } = stage
    const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    expect(await journal.key('anna')).toEqual({ is: 'none' })
    expect(await journal.addKey('anna', a)).toEqual({ is: 'key', key: a })
    expect(await (await open()).addKey('anna', b)).toEqual({ is: 'key', key: a })
    await journal.eraseKey('anna')
    expect(await journal.addKey('anna', b)).toEqual({ is: 'erased' })
    await journal.eraseKey('anna')
    await journal.eraseKey('bert')
    expect(await (await open()).key('anna')).toEqual({ is: 'erased' })
    expect(await journal.key('bert')).toEqual({ is: 'erased' })
  })

  test('of many that give a subject its first key all get the same, and none brings an erased one back', async () => {
    const { journal, open } = stage
    const rivals = [journal, await open(), await open()]
    const keys = await Promise.all(rivals.map((one, i) => one.addKey('anna', new Uint8Array(32).fill(i + 1))))
    expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(1)
    await Promise.all([rivals[0]!.eraseKey('anna'), rivals[1]!.addKey('anna', new Uint8Array(32).fill(9))])
    expect(await Promise.all(rivals.map((one) => one.key('anna')))).toEqual(rivals.map(() => ({ is: 'erased' })))
  })

  test('many subjects are given keys at once; one that cannot have any fails alone', async () => {
    const { journal } = stage
    const subjects = Array.from({ length: 50 }, (_, i) => `s${i % 40}`)
    const given = await Promise.all(subjects.map((subject, i) => journal.addKey(subject, new Uint8Array(32).fill(i))))
    // Of those that are there twice the first key holds.
    expect(given).toEqual(subjects.map((_, i) => ({ is: 'key', key: new Uint8Array(32).fill(i % 40) })))
    const long = randomBytes(50_000).toString('hex')
    const [a, b, c] = await Promise.allSettled([long, 'anna', 'bert'].map((subject) => journal.addKey(subject, new Uint8Array(32).fill(7))))
    // Journals differ in how long a subject may be.
    expect(['fulfilled', 'rejected']).toContain(a!.status)
    expect([b, c]).toEqual([b, c].map(() => ({ status: 'fulfilled', value: { is: 'key', key: new Uint8Array(32).fill(7) } })))
    expect(await Promise.all(['anna', 's7', 'nobody'].map((subject) => journal.key(subject)))).toEqual([
      { is: 'key', key: new Uint8Array(32).fill(7) },
      { is: 'key', key: new Uint8Array(32).fill(7) },
      { is: 'none' },
    ])
  })

  test('of many subjects those are told that have no key, at one look', async () => {
    const { journal, open } = stage
    const subjects = ['anna', 'bert', 'carl “c” \u{1f600}\n', 'nobody']
    for (const subject of subjects.slice(0, 3)) await journal.addKey(subject, new Uint8Array(32).fill(1))
    const beside = await open()
    expect(await beside.keyless(subjects)).toEqual([{ subject: 'nobody', is: 'none' }])
    expect(await beside.keyless([])).toEqual([])
    for (const subject of ['anna', subjects[2]!]) await journal.eraseKey(subject)
    const told = [...(await beside.keyless(subjects))].sort((a, b) => (a.subject < b.subject ? -1 : 1))
    expect(told).toEqual([
      { subject: 'anna', is: 'erased' },
      { subject: subjects[2], is: 'erased' },
      { subject: 'nobody', is: 'none' },
    ])
  })
}
