// A journal that says of everything that it is stored, and keeps nothing: what the gate itself costs.

export function nothing() {
  const journal = {
    identity: 'nothing',
    limits: { writes: 2000, events: 20_000, bytes: 8_000_000 },
    transactional: false,
    append: (group) => Promise.resolve(group.map(() => ({ is: 'stored' }))),
    heads: (ids) => Promise.resolve(ids.map((id) => ({ id, seq: 0, deleted: 0, snapshot: undefined, state: undefined }))),
    async *replay() {},
    async *events() {},
    raise: () => Promise.resolve(),
    epoch: () => Promise.resolve(0),
    due: () => Promise.resolve([]),
    saveSnapshot: () => Promise.resolve({ is: 'stored' }),
    snapshotBefore: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  }
  return { name: 'nothing', open: () => Promise.resolve(journal) }
}
