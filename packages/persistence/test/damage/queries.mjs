// Every query of a journal, each answered or refused by itself.

import { sqliteJournal } from '@troupe/persistence'

export const environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(() => task(), ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}

export const owner = { scope: 'default', epoch: 3 }
export const events = Array.from({ length: 24 }, (_, i) => `cart/${i}`)
export const states = Array.from({ length: 12 }, (_, i) => `box/${i}`)
/** Actors that nothing is stored of: they must stay new. */
const unknown = ['cart/never', 'box/never']
export const tags = ['red', 'blue', 'every third']
export const subjects = ['anna', 'bert', 'carl']

async function all(iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}

/** What an actor starts from: its head, and its events, whatever snapshots there are. */
async function stateOf(journal, id) {
  const [{ damage, snapshot: _, ...head }] = await journal.heads([id])
  if (damage !== undefined) throw damage
  const found = []
  for (const part of await all(journal.replay([{ id, after: 0 }], 7))) {
    if ('damage' in part) throw part.damage
    found.push(...part.events.map((event, i) => [part.first + i, event]))
  }
  return { head, found }
}

/** Queries by name; those that begin with `state` are what an actor's state is made of. */
const queries = {
  ...Object.fromEntries([...events, ...states, ...unknown].map((id) => [`state ${id}`, (journal) => stateOf(journal, id)])),
  ...Object.fromEntries(events.map((id) => [`snapshot ${id}`, async (journal) => (await journal.heads([id]))[0].snapshot ?? null])),
  ...Object.fromEntries(events.map((id) => [`snapshot before ${id}`, async (journal) => (await journal.snapshotBefore(id, 30)) ?? null])),
  'all events': async (journal) => (await all(journal.events({ batch: 50, once: true }))).flat(),
  'events of cart': async (journal) => (await all(journal.events({ kind: 'cart', batch: 50, once: true }))).flat(),
  ...Object.fromEntries(
    tags.map((tag) => [`events of ${tag}`, async (journal) => (await all(journal.events({ tag, batch: 50, once: true }))).flat()]),
  ),
  ids: (journal) => journal.ids({ most: 1000 }),
  'ids of box': (journal) => journal.ids({ kind: 'box', most: 1000 }),
  stats: async (journal) => ({ ...(await journal.stats()), bytes: undefined }),
  due: (journal) => journal.due(1e15, 1000),
  'offset of view': async (journal) => (await journal.offset('view')) ?? null,
  'epoch of default': (journal) => journal.epoch('default'),
  'epoch of other': (journal) => journal.epoch('other'),
  identity: (journal) => Promise.resolve(journal.identity),
  ...Object.fromEntries(subjects.map((subject) => [`key of ${subject}`, async (journal) => (await journal.key(subject)).is])),
  records: async (journal) => (await all(journal.records())).flat(),
}

/** What every query says; `{ refused: code }` where it says that it cannot. */
export async function answersOf(path) {
  const answers = {}
  let journal
  try {
    journal = await sqliteJournal(path).open(environment)
  } catch (cause) {
    return { opened: refused(cause) }
  }
  try {
    for (const [name, query] of Object.entries(queries))
      try {
        answers[name] = JSON.stringify(await query(journal))
      } catch (cause) {
        answers[name] = refused(cause)
      }
    try {
      answers.verify = (await journal.verify()).damages.length
    } catch (cause) {
      answers.verify = refused(cause)
    }
  } finally {
    await journal.close()
  }
  return answers
}

const codes = new Set(['journal-damaged', 'journal-refused', 'journal-unavailable'])
/** Only what a journal says by its own errors is a refusal. */
function refused(cause) {
  return codes.has(cause?.code) ? { refused: cause.code } : { unexpected: String(cause?.stack ?? cause) }
}
