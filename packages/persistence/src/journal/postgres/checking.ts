// Reads a PostgreSQL journal from end to end, as it is at one moment, and says what is wrong with it: runs that cannot be read, gaps, repeats, and
// what heads say against what is there. What is written meanwhile is no part of it, and no damage.

import type { Damage, Verified } from '../../values/stored.ts'
import type { Connections } from './connection.ts'
import { bounded, PlacedRun, type RunRow } from './runs.ts'
import { fromText } from './text.ts'

/** Heads and runs of one answer, at most. */
const atOnce = 500

type Run = (text: string, values?: unknown[]) => Promise<readonly unknown[]>

interface Known {
  readonly seq: number
  readonly deleted: number
  next: number
}

export function verify(connections: Connections, s: string, signal: AbortSignal | undefined): Promise<Verified> {
  return connections.use(async (run) => {
    await run(connections.beginning('isolation level repeatable read read only'))
    try {
      return await verifyAll(connections, s, run, signal)
    } finally {
      await run('rollback').catch(() => undefined)
    }
  })
}

async function verifyAll(connections: Connections, s: string, run: Run, signal: AbortSignal | undefined): Promise<Verified> {
  const damages: Damage[] = []
  const report = (id: string, seq: number, problem: string): void => {
    if (damages.length < 1000) damages.push({ where: `${s}.runs, ${id}#${seq}`, id, seq, problem })
  }
  let [ids, events] = [0, 0]
  let after: string | undefined
  for (;;) {
    signal?.throwIfAborted()
    const heads = (await run(`select id, seq, deleted from ${s}.heads where $1::text is null or id > $1 order by id limit ${atOnce}`, [
      after ?? null,
    ])) as readonly { readonly id: string; readonly seq: string; readonly deleted: string }[]
    ids += heads.length
    const known = new Map<string, Known>()
    for (const { id, seq, deleted } of heads) known.set(fromText(id), { seq: Number(seq), deleted: Number(deleted), next: Number(deleted) + 1 })
    // Those whose heads these are, and those in between that have none; after the last head, all that is left.
    const until = heads.length < atOnce ? undefined : heads.at(-1)!.id
    for await (const placed of runsBetween(connections, s, run, after, until, signal)) events += check(placed, known.get(placed.id), report)
    for (const [id, { seq, next }] of known) if (next <= seq) report(id, next, `events ${next} to ${seq} are missing`)
    if (until === undefined) break
    after = until
  }
  const [snapshots] = (await run(`select count(*) from ${s}.snapshots`)) as [{ count: string }]
  return { ids, events, snapshots: Number(snapshots.count), damages }
}

/** The runs of the ids after one and up to one. */
async function* runsBetween(
  connections: Connections,
  s: string,
  run: Run,
  after: string | undefined,
  until: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<PlacedRun> {
  let last: readonly [id: string | null, first: string] = [after ?? null, String(Number.MAX_SAFE_INTEGER)]
  for (;;) {
    signal?.throwIfAborted()
    const rows = (await run(
      bounded(
        s,
        `select r.* from ${s}.runs r where ($1::text is null or (r.id, r.first) > ($1, $2::bigint)) and ($3::text is null or r.id <= $3)
         order by r.id, r.first limit ${atOnce}`,
        ['id', 'first'],
        Number.MAX_SAFE_INTEGER,
      ),
      [...last, until ?? null],
    )) as readonly RunRow[]
    if (rows.length === 0) return
    for (const row of rows) yield new PlacedRun(connections, s, row)
    const end = rows.at(-1)!
    last = [end.id, end.first]
  }
}

/** Holds a run against what came before it, and what the head says; gives the number of its events that are there. */
function check(run: PlacedRun, head: Known | undefined, report: (id: string, seq: number, problem: string) => void): number {
  const { id, first, last } = run
  if (head === undefined) {
    report(id, first, 'there is no head for it')
    return 0
  }
  if (first > head.next) report(id, head.next, `events ${head.next} to ${first - 1} are missing`)
  else if (first < head.next && first > head.deleted) report(id, first, `event ${first} is there twice`)
  head.next = Math.max(head.next, last + 1)
  if (last > head.seq) report(id, first, `it goes on to ${last}, and the head says ${head.seq}`)
  try {
    run.events()
  } catch (damage) {
    report(id, first, ((damage as Error).cause as Error).message)
    return 0
  }
  return Math.max(0, last - Math.max(first - 1, head.deleted))
}
