// The last messages of many subjects by one request: a read for each key would make a list cost as many round trips and requests as there are
// keys. Any copy of the stream may answer it, so the answer says how far that copy has got.

import { createInbox, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import type { Timing } from '../../ports/timing.ts'

/** The last message of a subject. */
export interface LastMessage {
  readonly seq: number
  readonly data: Uint8Array
  readonly header: MsgHdrs
}

export interface Batch {
  /** By subject; subjects that have none are left out. */
  readonly found: ReadonlyMap<string, LastMessage>
  /** The last sequence that whoever answered had; undefined where nothing was found, for then it does not say. */
  readonly upTo: number | undefined
}

export interface BatchRequest {
  readonly stream: string
  readonly subjects: readonly string[]
  /** The prefix of inboxes of this client. */
  readonly inbox: string
  readonly timeout: number
  readonly timing: Timing
}

const endOfBatch = 204
const noResults = 404

/** Rejects where no answer comes in time, or the server refuses. */
export function lastMessages(connection: NatsConnection, { stream, subjects, inbox, timeout, timing }: BatchRequest): Promise<Batch> {
  return new Promise((resolve, reject) => {
    const found = new Map<string, LastMessage>()
    const reply = createInbox(inbox)
    const end = (settle: () => void): void => {
      cancel()
      subscription.unsubscribe()
      settle()
    }
    const subscription = connection.subscribe(reply, {
      callback: (problem, { headers, data }) => {
        if (problem !== null) return end(() => reject(problem))
        if (headers === undefined) return
        const { code } = headers
        if (code === 0) found.set(headers.get('Nats-Subject'), { seq: Number(headers.get('Nats-Sequence')), data: data.slice(), header: headers })
        else if (code === endOfBatch) end(() => resolve({ found, upTo: Number(headers.get('Nats-UpTo-Sequence')) }))
        else if (code === noResults) end(() => resolve({ found, upTo: undefined }))
        else end(() => reject(new Error(`${code} ${headers.description}`)))
      },
    })
    const cancel = timing.timer(timeout, () => end(() => reject(new Error(`no answer within ${timeout} ms`))))
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ multi_last: subjects }), { reply })
  })
}
