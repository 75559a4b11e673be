// Where everything stands, in words, as the main thread can see it without asking anybody: also when a thread hangs, sleeps
// through its bell, or is gone.

import type { ThreadPool } from '../pool/pool.ts'

const namesShown = 5

export function reportOn(pool: ThreadPool): readonly string[] {
  const { exchange } = pool
  const now = exchange.now
  const lines: string[] = []
  for (const thread of pool.threads) {
    const { uid, message } = thread.signs.running
    const turn = `last turn of ${exchange.residents.stub(uid)?.ref.path ?? uid}${message === undefined ? '' : ` on ${message}`}`
    const crossing = exchange.knownCrossing(thread.epoch)
    const way = crossing?.standing
    lines.push(
      [
        `thread ${thread.epoch} in place ${thread.slot}: ${thread.state}${thread.asleep ? ', asleep' : ''}`,
        `last beat seen ${Math.round(now - thread.lastBeatAt)} ms ago, ${thread.signs.beats} in all`,
        uid === 0 ? 'no turn seen' : turn,
        way === undefined
          ? 'no way to it'
          : `way ${crossing!.state}, ${way.unsent} bytes unsent, ${way.unread} unread there, ${way.incoming} unread here`,
      ].join('; '),
    )
  }
  lines.push(
    `main thread: ${pool.asleep ? 'asleep' : 'awake'}; ${exchange.questions.pending} questions away; ${exchange.waitingMailboxes} mailboxes wait to pass on`,
  )
  const groups = new Map<string, string[]>()
  for (const stub of exchange.residents.stubs) {
    const key = `${stub.phase}, there ${stub.there}, at ${stub.at ?? 'none'}${stub.wire.size > 0 ? ', messages wait' : ''}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [stub.ref.path])
    else group.push(stub.ref.path)
  }
  for (const [key, paths] of groups)
    lines.push(`${paths.length} actors ${key}: ${paths.slice(0, namesShown).join(', ')}${paths.length > namesShown ? ', …' : ''}`)
  return [...lines, ...pool.waits]
}
