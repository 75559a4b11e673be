// What the worker of a SQLite journal executes: one request after the other. Appends that wait together are one transaction, so that writers of
// several scopes share a flush. Before it begins it enters the guard, so that a process that ends waits for it (`sqlite-worker-handle.ts`).

import { parentPort, workerData } from 'node:worker_threads'
import { loadSqlite } from '@troupe/sqlite'
import type { WorkerNotice, WorkerReply, WorkerRequest, WorkerStart } from './sqlite-protocol.ts'
import { enter, leave } from './sqlite-exit-guard.ts'
import { SqliteWriter } from './sqlite-writer.ts'

type Numbered = WorkerRequest & { readonly request: number }

const start = workerData as WorkerStart
const port = parentPort!
const guard = new Int32Array(start.guard)
const queue: Numbered[] = []
let planned = false
/** What was last told to the journal. */
let warned: string | undefined
let loading: Promise<SqliteWriter | undefined> | undefined

port.on('message', (request: Numbered) => {
  queue.push(request)
  plan()
})
function plan(): void {
  if (planned) return
  planned = true
  // All that have arrived are taken together.
  setImmediate(() => void work())
}
async function work(): Promise<void> {
  planned = false
  const writer = await (loading ??= load())
  if (writer !== undefined) workThrough(writer)
}
function workThrough(to: SqliteWriter): void {
  while (queue.length > 0) {
    const requests = take()
    if (!enter(guard)) return
    let replies: WorkerReply[]
    try {
      replies = execute(to, requests)
    } finally {
      leave(guard)
    }
    for (const reply of replies) port.postMessage(reply)
    if (requests[0]!.type === 'close') port.close()
  }
  if (!enter(guard)) return
  let more: boolean
  try {
    more = to.tidy()
  } finally {
    leave(guard)
  }
  if (to.warning !== warned) port.postMessage({ warning: (warned = to.warning) } satisfies WorkerNotice)
  // Without writes, too, it is noticed that a reader has ended.
  if (warned !== undefined) again ??= setTimeout(lookAgain, 2000).unref()
  if (more) plan()
}
let again: NodeJS.Timeout | undefined
function lookAgain(): void {
  again = undefined
  plan()
}
async function load(): Promise<SqliteWriter | undefined> {
  // Loading runs native code, and a statement that asks for the version.
  if (!enter(guard)) return undefined
  try {
    return new SqliteWriter(start, await loadSqlite())
  } catch (cause) {
    const failure = { type: 'refused', problem: cause instanceof Error ? cause.message : String(cause) } as const
    for (const { request } of queue.splice(0)) port.postMessage({ request, failure } satisfies WorkerReply)
    // Nothing can be done here: requests that come later fail because the thread has ended.
    port.close()
    return undefined
  } finally {
    leave(guard)
  }
}

/** How many writes one transaction takes of several requests. */
const writesAtOnce = 4000

/** The next request, and appends right behind an append. */
function take(): Numbered[] {
  let count = 1
  let writes = 0
  if (queue[0]!.type === 'append')
    for (const [i, request] of queue.entries()) {
      if (request.type !== 'append' || (writes += request.writes.length) > writesAtOnce) break
      count = i + 1
    }
  return queue.splice(0, Math.max(1, count))
}

function execute(to: SqliteWriter, requests: readonly Numbered[]): WorkerReply[] {
  try {
    if (requests[0]!.type === 'append') {
      const outcomes = to.append(requests.map((request) => (request.type === 'append' ? request.writes : [])))
      return requests.map(({ request }, i) => ({ request, value: outcomes[i] }))
    }
    const [request] = requests as readonly [Numbered]
    return [{ request: request.request, value: executeOne(to, request) }]
  } catch (cause) {
    const failure = to.failureOf(cause)
    return requests.map(({ request }) => ({ request, failure }))
  }
}

function executeOne(to: SqliteWriter, request: WorkerRequest): unknown {
  switch (request.type) {
    case 'open':
      return to.open()
    case 'append':
      return to.append([request.writes])
    case 'saveSnapshot':
      return owned(to, request, (writes) => writes.saveSnapshot(request.snapshot))
    case 'deleteSnapshots':
      return owned(to, request, (writes) => writes.deleteSnapshots(request.id, request.upTo))
    case 'deleteEvents':
      return owned(to, request, (writes) => writes.deleteEvents(request.id, request.upTo))
    case 'raiseEpoch':
      return to.transaction((writes) => writes.raiseEpoch(request.scope, request.epoch, request.holder))
    case 'advance':
      return to.transaction((writes) => writes.advance(request.projection, request.from, request.to))
    case 'removePlaces':
      return to.transaction((writes) => writes.removePlaces(request.projections))
    case 'beginImport':
      return to.beginImport()
    case 'import':
      return to.importBatch(request.batch)
    case 'endImport':
      return to.endImport(request.keep)
    case 'verify':
      return to.verify()
    case 'copy':
      return to.copy(request.to)
    case 'close':
      return to.close()
  }
}

type Writes = Parameters<Parameters<SqliteWriter['transaction']>[0]>[0]

/** What only the current writer of a scope may change: `fenced`, or whether there is more to do. */
function owned(
  to: SqliteWriter,
  { scope, epoch }: { scope: string; epoch: number },
  change: (writes: Writes) => unknown,
): 'fenced' | 'stored' | 'more' {
  return to.transaction((writes) => {
    if (!writes.owns(scope, epoch)) return 'fenced'
    return change(writes) === true ? 'more' : 'stored'
  })
}
