// What a refused request is told: the reason as a word, and what to do about it.

import { messageOf } from '../../values/errors.ts'
import type { ChildReply } from './protocol.ts'
import type { Refusal } from './tree.ts'

export function refusal(path: string, what: string, { reason, names, cause }: Refusal): Extract<ChildReply, { ok: false }> {
  return { ok: false, reason, message: `${path} refused to ${what}: ${explain(reason, names ?? [], cause)}`, cause }
}

function explain(reason: Refusal['reason'], names: readonly string[], cause: unknown): string {
  switch (reason) {
    case 'already-present':
      return 'a child of that name is on file and not running. Bring it back by restartChild, or take it off by deleteChild first; one that is being restarted comes back by itself.'
    case 'already-started':
      return 'a child of that name lives. Use it, or stop and delete it first.'
    case 'running':
      return 'it is running. Stop it first.'
    case 'restarting':
      return 'it is being restarted. Wait for that, or stop it first.'
    case 'stopping':
      return 'it is stopping. Wait for its end.'
    case 'not-found':
      return 'there is no such child. An instance of a template, a temporary child that has ended and a deleted one are off the books.'
    case 'needed':
      return `it is needed by ${names.join(', ')}. Delete those first.`
    case 'invalid':
      return names.length > 0 ? `it needs ${names.join(', ')}, unknown here. Start those first.` : messageOf(cause)
    case 'start-failed':
      return `its start failed: ${messageOf(cause)}`
  }
}
